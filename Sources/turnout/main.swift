print("turnout")
