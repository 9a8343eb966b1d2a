"""Writers of the formats that are CSV."""

import csv
import io
from decimal import Decimal
from fractions import Fraction
from typing import Any

from plugins.exchange.tests.groups import Bill, Group
from plugins.exchange.tests.json_writers import bill_of_ihatemoney
from tripcompanion.currency.amounts import to_major

_GUARDED = tuple("=+-@\t")


def guarded(text: str) -> str:
    """The text of a cell that no spreadsheet takes for a formula."""
    return f"'{text}" if text.startswith(_GUARDED) else text


def ihatemoney(group: Group, version: int, currency: str | None) -> str:
    """The bills of a project of ihatemoney. A list of names is guarded at its start."""
    out = io.StringIO()
    writer = csv.writer(out)
    for at, bill in enumerate(group.bills):
        row = bill_of_ihatemoney(group, bill, version, currency)
        row["owers"] = ", ".join(row["owers"])
        if at == 0:
            writer.writerow(row)
        writer.writerow(guarded(v) if isinstance(v, str) else v for v in row.values())
    return out.getvalue()


def splitwise(group: Group) -> str:
    """Splitwise's spreadsheet: what each person paid less their part, with two decimals."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(["Date", "Description", "Category", "Cost", "Currency", *group.people])
    writer.writerow([])
    for bill in group.bills:
        nets = bill.moved(bill.cents)
        amounts = [bill.amount, *(nets.get(name, 0) for name in group.people)]
        cost, *cells = [f"{to_major(minor, bill.currency):.2f}" for minor in amounts]
        label = "Payment" if bill.kind == "payment" else "Dining out"
        writer.writerow([bill.day, bill.title, label, cost, bill.currency, *cells])
    writer.writerow([])
    sums = group.balances
    for code in {bill.currency: None for bill in group.bills}:
        cells = [f"{to_major(sums.get((name, code), 0), code):.2f}" for name in group.people]
        writer.writerow(["2026-05-02", "Total balance", " ", " ", code, *cells])
    return out.getvalue()


def settle_up(group: Group) -> bytes:
    """Settle Up's file, whose lists are joined by semicolons."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    names = "Who paid,Amount,Currency,For whom,Split amounts,Purpose,Category,Date & time,Type"
    writer.writerow(names.split(","))
    for bill in group.bills:
        first, second, third, fourth = (
            text
            for shares in (bill.paid, bill.cents)
            for text in (
                ";".join(shares),
                ";".join(str(to_major(minor, bill.currency)) for minor in shares.values()),
            )
        )
        kind = "transfer" if bill.kind == "payment" else "expense"
        rest = [bill.title, "", f"{bill.day} 10:00:00", kind]
        writer.writerow([first, second, bill.currency, third, fourth, *rest])
    return out.getvalue().encode("utf-16")


def cells_of_spliit(bill: Bill, is_old: bool) -> dict[str, int]:
    """The parts in minor units. Older files round each of them alone."""
    if not is_old:
        return bill.cents
    step = bill.step
    # As JavaScript rounds: half up.
    return {n: int((part / step + Fraction(1, 2)) // 1) * step for n, part in bill.exact.items()}


def spliit(group: Group, is_old: bool, currency: str) -> str:
    """Spliit's table: the part of each person, with the sign of the amount for the payer."""
    names = "Date,Description,Category,Currency,Cost,Original cost,Original currency,"
    names += "Conversion rate,Is Reimbursement,Split mode"
    people = [guarded(name) for name in group.people]
    lines = [",".join(_quoted(cell) for cell in (*names.split(","), *people))]
    modes = {
        "EVENLY": "Evenly",
        "SHARES": "Unevenly – By shares",
        "PERCENT": "Unevenly – By percentage",
        "AMOUNT": "Unevenly – By amount",
    }
    decimals = {"JPY": 0, "HUF": 0}.get(group.currency, 2)
    for bill in group.bills:
        parts = cells_of_spliit(bill, is_old)
        original = [None, None, None]
        if bill.original:
            code, minor, rate = bill.original
            original = [f"{to_major(minor, code):.2f}", code, f"{rate.normalize():f}"]
        texts = [str(bill.day), guarded(bill.title), "General", currency]
        texts += [f"{to_major(bill.amount, bill.currency):.{decimals}f}", *original]
        texts += ["Yes" if bill.kind == "payment" else "No", modes[bill.mode]]
        cells = [
            to_major(parts.get(name, 0) * (1 if name in bill.paid else -1), bill.currency)
            for name in group.people
        ]
        shown = ["" if text is None else _quoted(text) for text in texts]
        lines.append(",".join([*shown, *(f"{cell.normalize():f}" for cell in cells)]))
    return "\ufeff" + "\n".join(lines)


def _quoted(text: str) -> str:
    return '"' + text.replace('"', '""') + '"'


def php(value: Any) -> str:
    """A number as PHP writes it, with at most 14 digits."""
    return f"{value:.14G}"


def cospend(group: Group, amounts: list[str], currencies: bool) -> str:
    """A project of Cospend. Quotes in names are not doubled where the members are."""
    lines = ["name,weight,active,color"]
    for name, weight in group.weights.items():
        lines.append(f'"{name}",{php(weight)},1,"#112233"')
    lines += ["", "what,amount,date,timestamp,payer_name,payer_weight,payer_active,owers,repeat,"]
    lines[-1] += "repeatfreq,repeatallactive,repeatuntil,categoryid,paymentmode,paymentmodeid,"
    lines[-1] += "comment,deleted"
    for bill, amount in zip(group.bills, amounts, strict=True):
        noon = 86_400 * (bill.day.toordinal() - 719_163) + 43_200
        payer = [_quoted(bill.payer), php(group.weights[bill.payer]), "1"]
        owers = _quoted(",".join(bill.weights))
        category = "-11" if bill.kind == "payment" else "3"
        is_deleted = "1" if bill.kind == "deleted" else "0"
        row = [_quoted(bill.title), amount, str(bill.day), str(noon), *payer, owers]
        lines.append(",".join([*row, "n", "1", "0", "", category, "c", "1", '""', is_deleted]))
    lines += ["", "categoryname,categoryid,icon,color", '"Hut, "etc."",3,"🏠","#AA5500"']
    if currencies:
        lines += ["", "currencyname,exchange_rate", f'"{group.currency}",1', '"CZK",0.041']
    return "\n".join([*lines, ""])


def splitpro(bills: list[Bill], friend: str, mark: str) -> str:
    """What SplitPro exports on a friend's page. Quotes are not doubled."""
    lines = ["Paid By,Name,Category,Amount,Split Type,Expense Date,Currency,You Lent,You Owe"]
    lines[0] += ",Settlement"
    types = {"EVENLY": "EQUAL", "SHARES": "SHARE", "PERCENT": "PERCENTAGE", "AMOUNT": "EXACT"}
    for bill in bills:
        other = friend if bill.payer == "You" else "You"
        share, code = bill.cents[other], bill.currency
        lent, owe = (_cut_share(share, code), "0")
        lent, owe = (lent, owe) if bill.payer == "You" else (owe, lent)
        amount, settlement, kind = f"{to_major(bill.amount, code):f}", "0", types[bill.mode]
        if bill.kind == "payment":
            lent, owe, settlement, kind = "0", "0", amount, "SETTLEMENT"
        cells = [bill.payer, bill.title, "general", amount, kind, f"{bill.day} 20:15:00", code]
        numbers = {3, 7, 8, 9}
        cells += [lent, owe, settlement]
        shown = [c.replace(".", mark) if at in numbers else c for at, c in enumerate(cells)]
        lines.append(",".join(f'"{cell}"' if "," in cell else cell for cell in shown))
    return "\n".join([*lines, ""])


def _cut_share(minor: int, currency: str) -> str:
    """A share; its minus is cut off as if it were a digit, so small ones have one too few."""
    decimals = -Decimal(to_major(1, currency)).as_tuple().exponent
    if not decimals or minor >= 10 ** (decimals - 1):
        return f"{to_major(minor, currency):f}"
    return f"0.{minor:0{decimals - 1}d}"
