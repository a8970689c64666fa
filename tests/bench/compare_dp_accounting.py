#!/usr/bin/env python3
"""Times Python's dp_accounting beside accounting_bench, in one run on one machine.

usage: compare_dp_accounting.py PATH/TO/accounting_bench [--all]

Prints one table; the peer's ledger of 1000 events, which takes it minutes, only with --all. Without dp_accounting (pip install dp-accounting) it prints our column and a sentence.
"""

import json
import math
import random
import subprocess
import sys
import time

try:
    import dp_accounting
    from dp_accounting.pld import PLDAccountant
except ImportError:
    dp_accounting = None

BENCHES = {
    "pld_250_steps": "PLD epsilon, q=.02 sigma=1.6 T=250",
    "pld_100000_steps": "PLD epsilon, q=.001 sigma=.6 T=1e5",
    "pld_60_events": "PLD epsilon, 60 different events",
    "pld_1000_events": "PLD epsilon, ledger of 1000 events",
    "calibrate_250_steps/3000": "noise for epsilon 3, q=.02 T=250",
}


def ours(program):
    out = subprocess.run([program, "--benchmark_format=json"], check=True, capture_output=True, text=True)
    rows = json.loads(out.stdout)["benchmarks"]
    return {row["name"]: (row["cpu_time"], row.get("epsilon", row.get("noise"))) for row in rows}


def psg(rate, noise, steps):
    event = dp_accounting.PoissonSampledDpEvent(rate, dp_accounting.GaussianDpEvent(noise))
    return dp_accounting.SelfComposedDpEvent(event, steps)


def price(events, delta):
    accountant = PLDAccountant()
    for event in events:
        accountant.compose(event)
    return accountant.get_epsilon(delta)


def calibrate():
    return dp_accounting.calibrate_dp_mechanism(
        PLDAccountant, lambda noise: psg(0.02, noise, 250), 3.0, 6.8e-6,
        bracket_interval=dp_accounting.LowerEndpointAndGuess(0.3, 1.0), tol=1e-4)


def theirs(all_rows):
    sixty = [psg(0.005 + 0.0005 * i, 0.8 + 0.03 * i, 5 + i) for i in range(60)]
    draw = random.Random(1)
    thousand = [psg(0.01 * math.exp(1.5 * (draw.random() - 0.5)), 1.5 * math.exp(0.8 * (draw.random() - 0.5)), 1 + i % 5)
                for i in range(1000)]
    work = {
        "pld_250_steps": lambda: price([psg(0.02, 1.6, 250)], 6.8e-6),
        "pld_100000_steps": lambda: price([psg(0.001, 0.6, 100000)], 1e-5),
        "pld_60_events": lambda: price(sixty, 1e-5),
        "calibrate_250_steps/3000": calibrate,
        "pld_1000_events": lambda: price(thousand, 1e-5),
    }
    if not all_rows:
        del work["pld_1000_events"]
    result = {}
    for name, run in work.items():
        best = math.inf
        value = math.nan
        for _ in range(1 if name == "pld_1000_events" else 2):
            start = time.process_time()
            value = run()
            best = min(best, time.process_time() - start)
        result[name] = (1000 * best, value)
        print(f"... {name}: {best:.2f} s", file=sys.stderr)
    return result


def main():
    arguments = [a for a in sys.argv[1:] if a != "--all"]
    if len(arguments) != 1:
        sys.exit(__doc__)
    mine = ours(arguments[0])
    peer = theirs("--all" in sys.argv) if dp_accounting else {}
    print(f"{'':38} {'ours, ms':>10} {'answer':>12} {'dp_accounting, ms':>18} {'answer':>12}")
    for name, title in BENCHES.items():
        took, answer = mine[name]
        other = peer.get(name)
        beside = f"{other[0]:18.0f} {other[1]:12.6g}" if other else f"{'-':>18} {'-':>12}"
        print(f"{title:38} {took:10.2f} {answer:12.6g} {beside}")
    print("CPU time of one call. The 1000 events are drawn from the same ranges, not the same numbers.")
    if not dp_accounting:
        print("dp_accounting is not importable here (pip install dp-accounting), so its column is empty.")


if __name__ == "__main__":
    main()
