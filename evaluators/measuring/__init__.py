"""How good a judge is: labelled cases through the evaluators, the answers kept, and what agreement they show.

`cases` reads labelled files, `answers` and `endpoints` stand between the evaluators and whoever answers, `run` asks,
`statistics` has the formulas, and `judging_report` and `attack_report` say what came of it.
"""
