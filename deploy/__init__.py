"""What is needed to run Adhere beside other software; nothing here is part of the installed package."""
