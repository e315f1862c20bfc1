"""Five firms that share a market: the equilibrium of Cournot and Nash [Murphy, Sherali, Soyster 1982].

Firm i makes q_i at cost c_i q_i + β_i/(1 + β_i) L^(-1/β_i) q_i^((1 + β_i)/β_i) and sells at the price
(5000/Q)^(1/γ), Q = Σ q_i. In the equilibrium nobody gains by making more: marginal cost - marginal revenue
⟂ q_i >= 0.
"""

import numpy as np

import mcpframe as mf

firms, costs = range(1, 6), [10.0, 8.0, 6.0, 4.0, 2.0]
PUBLISHED = [36.9325, 41.8181, 43.7066, 42.6592, 39.1790]

model = mf.MCPModel("cournot")
c = model.parameter("cost", firms, value=costs)
beta = model.parameter("beta", firms, value=[1.2, 1.1, 1.0, 0.9, 0.8])
gamma = model.parameter("gamma", value=1.1)
q = model.variable("q", firms, start=10.0)  # the price is infinite where nothing is made

Q = sum(q.values())
price = (5000 / Q) ** (1 / gamma)
for i in firms:
    marginal_cost = c[i] + (q[i] / 5.0) ** (1 / beta[i])
    marginal_revenue = price * (1 - q[i] / (gamma * Q))
    (marginal_cost - marginal_revenue).perp(q[i])

answer = model.solve("newton", throw=True)
print(answer)
print(f"price {answer[price]:.4f}")
assert np.allclose(list(answer["q"].values()), PUBLISHED, atol=1e-3)

for tax in (5.0, 10.0, 100.0):  # on the last firm; each solve starts from the answer before
    before = answer["q"][5]
    answer = model.solve("path", parameters={"cost": [*costs[:4], costs[4] + tax]}, start=answer, throw=True)
    print(f"tax {tax:3.0f}: firm 5 makes {answer['q'][5]:.3f}, its slack is {answer.slack(q[5]):.3f}")
    assert answer["q"][5] < before
assert answer["q"][5] == 0.0  # with a tax far above the price it makes nothing
