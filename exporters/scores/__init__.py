"""What exporters to the score APIs of other backends share."""
