"""Role adherence: did the agent stay in its role, turn by turn?"""
