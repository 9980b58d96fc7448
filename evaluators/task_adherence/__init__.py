"""Task adherence: did the agent do what was asked, within its rules, by its procedure?"""
