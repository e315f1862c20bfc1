"""A small Walrasian equilibrium: one activity, three goods, one household [Mathiesen 1987].

The activity makes one of good 1 from one each of goods 2 and 3. The household owns b_2 and b_3 of these and
spends the share α of its income on good 1, the rest on good 2. Only relative prices matter: good 1 has
price 1. Activities make no profit, markets clear, and what nobody wants is free:

    p_2 + p_3 - p_1 ⟂ y >= 0,     supply_k - demand_k ⟂ p_k >= 0.

With α = 3/4, b = (1, 2) the activity runs at 3/4 and good 3, of which there is too much, costs nothing.
"""

import numpy as np

import mcpframe as mf

model = mf.MCPModel("walras")
alpha = model.parameter("alpha", value=0.75)
b = model.parameter("endowment", (2, 3), value={2: 1.0, 3: 2.0})

y = model.variable("activity", start=1.0)
p = model.variable("price", (1, 2, 3), lower=[1.0, 0.0, 0.0], upper=[1.0, np.inf, np.inf], start=1.0)

income = b[2] * p[2] + b[3] * p[3]
(p[2] + p[3] - p[1]).perp(y)
(y - alpha * income / p[1]).perp(p[1])
(b[2] - y - (1 - alpha) * income / p[2]).perp(p[2])
(b[3] - y).perp(p[3])

answer = model.solve("path", throw=True)
print(answer)
print(answer.log())
assert abs(answer["activity"] - 0.75) < 1e-8
assert abs(answer["price"][2] - 1.0) < 1e-8
assert answer["price"][3] < 1e-8
assert answer.slack(p[3]) > 1.0  # good 3 is left over
