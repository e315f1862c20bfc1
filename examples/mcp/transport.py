"""Dantzig's transport problem as a complementarity problem: plants ship where the price pays for the way.

Quantities are in cases, prices in thousands of dollars per case [Dantzig 1963, Chapter 3.3; trnsport and
transmcp of the GAMS model library]. The cheapest plan costs 153.675.
"""

import mcpframe as mf

plants, markets = ("seattle", "san-diego"), ("new-york", "chicago", "topeka")
miles = [[2.5, 1.7, 1.8], [2.5, 1.8, 1.4]]  # thousands

model = mf.MCPModel("transport")
a = model.parameter("capacity", plants, value={"seattle": 350.0, "san-diego": 600.0})
b = model.parameter("demand", markets, value={"new-york": 325.0, "chicago": 300.0, "topeka": 275.0})
d = model.parameter("distance", plants, markets, value=miles)
freight = model.parameter("freight", value=90.0)  # dollars per case and thousand miles

x = model.variable("shipped", plants, markets)
w = model.variable("rent", plants)  # of a plant's capacity
p = model.variable("price", markets)

for i in plants:
    for j in markets:
        (w[i] + freight * d[i, j] / 1000 - p[j]).perp(x[i, j])  # no profit on any way
    (a[i] - sum(x[i, j] for j in markets)).perp(w[i])  # supply
for j in markets:
    (sum(x[i, j] for i in plants) - b[j]).perp(p[j])  # demand

answer = model.solve("path", throw=True)
cost = answer[sum(freight * d[key] / 1000 * x[key] for key in x)]
print(answer)
print(f"cost {cost:.3f} thousand dollars")
assert abs(cost - 153.675) < 1e-9

dearer = model.solve("lemke", parameters={"freight": 180.0}, throw=True)  # affine, so every solver takes it
assert abs(dearer["price"]["topeka"] - 2 * answer["price"]["topeka"]) < 1e-9
