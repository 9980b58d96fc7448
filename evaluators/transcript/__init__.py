"""A conversation as a judge sees it: places and content in lines that no content can forge.

`fence` makes the mark of structural lines, `escape` makes text harmless, `places` lists what is shown and where,
`view` fits it into a budget, `record` writes it down.
"""
