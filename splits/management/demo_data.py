"""The data that `manage.py demo` loads: people, trips and expenses.

Expenses are tables. The column `paid` has one person, or several with the amount that each paid;
`divided` has the people, or a split type and the people with their figures. `all` means every
member. An amount in another currency is followed by the currency and the rate to the trip's:
`50.00 EUR 0.94`.
"""

from typing import NamedTuple


class Person(NamedTuple):
    """A person with an account, whose e-mail address is `key` at example.com."""

    key: str
    name: str
    currency: str
    is_admin: bool = False


class Journey(NamedTuple):
    """A trip with its expenses and settlements. The first member owns it."""

    #: The first letters of the trip code; the rest is the number of the copy.
    code: str
    title: str
    destination: str
    description: str
    start: str
    days: int
    currency: str
    budget: str
    members: dict[str, str]
    expenses: str
    #: Guests who stay guests: (key, name).
    guests: tuple[tuple[str, str], ...] = ()
    #: Members who were guests until they accepted an invitation, with the name they had.
    claimed: tuple[tuple[str, str], ...] = ()
    #: Splits marked as paid: (person, part of the expense's description).
    paid: tuple[tuple[str, str], ...] = ()
    #: Comments: (person, part of the expense's description, text).
    comments: tuple[tuple[str, str, str], ...] = ()
    #: Settlements: (from, to, amount, day, note).
    settlements: tuple[tuple[str, str, str, int, str], ...] = ()
    #: Expenses that were deleted, and can be restored: (person, part of the description).
    deleted: tuple[tuple[str, str], ...] = ()
    #: Notes of the invitations that are open.
    invitations: tuple[str, ...] = ()
    #: Whether the settle-up plan was recorded at the end.
    settled_up: bool = False


PEOPLE = (
    Person("olga", "Olga Lindqvist", "EUR"),
    Person("ed", "Ed Morales", "USD"),
    Person("vera", "Vera Kowalska", "EUR"),
    Person("ada", "Ada Okafor", "GBP", is_admin=True),
    Person("sam", "Sam Tanaka", "JPY"),
    Person("noor", "Noor Al-Sabah", "EUR"),
    Person("lucia", "Lucía Fernández", "EUR"),
    Person("jonas", "Jonas Weber", "CHF"),
)

JOURNEYS = (
    Journey(
        code="LSBNA",
        title="Lisbon in May",
        destination="Lisbon",
        description="Five days of trams and tarts.",
        start="2026-05-14",
        days=5,
        currency="EUR",
        budget="1800.00",
        members={"olga": "OWNER", "ed": "EDITOR", "vera": "VIEWER", "lucia": "EDITOR"},
        expenses="""
        0 | Flat in Alfama, four nights | ACCOMMODATION | 612.00 | olga | all
        0 | Metro from the airport | TRANSPORT | 7.40 | ed | all
        0 | Groceries at the corner shop | FOOD | 38.62 | lucia | all
        0 | Dinner in Alfama | FOOD | 94.50 | olga | all
        1 | Day tickets for the trams | TRANSPORT | 27.20 | ed | all
        1 | Custard tarts, two boxes | FOOD | 15.60 | vera | SHARES olga 2 ed 3 vera 4 lucia 3
        1 | Castle of São Jorge | ACTIVITIES | 45.00 | ed | olga ed vera
        1 | Grilled sardines | FOOD | 68.00 | lucia | MANUAL olga 17.50 ed 19.00 vera 14.50 lucia 17
        2 | Train to Sintra | TRANSPORT | 18.40 | olga | all
        2 | Palace of Pena | ACTIVITIES | 80.00 | olga 40 lucia 40 | all
        2 | Lunch under the cork oaks | FOOD | 57.80 | ed | all
        2 | Ginjinha | FOOD | 11.00 | lucia | olga ed lucia
        3 | Surf lesson in Cascais | ACTIVITIES | 105.00 | ed | ed vera lucia
        3 | Sun cream and plasters | OTHER | 16.35 | vera | all
        3 | Fado night | ACTIVITIES | 140.00 | olga 100 ed 40 | PERCENTAGE olga 30 ed 40 vera 30
        3 | Taxi home | TRANSPORT | 13.90 | ed | all
        4 | Museum of tiles | ACTIVITIES | 32.00 | lucia | olga ed vera lucia
        4 | Brunch by the river | FOOD | 71.30 | olga | all
        4 | Cork bags as presents | OTHER | 54.00 | lucia | MANUAL olga 18 vera 36
        4 | Luggage lockers | OTHER | 9.00 | vera | all
        4 | Taxi to the airport | TRANSPORT | 24.10 | olga | all
        """,
        paid=(("ed", "Flat in Alfama"), ("lucia", "Flat in Alfama"), ("vera", "Train to Sintra")),
        comments=(
            ("ed", "Dinner in Alfama", "Is the tip in it?"),
            ("olga", "Dinner in Alfama", "Yes, five euros."),
            ("vera", "Fado night", "I had no wine, so thirty percent is a lot."),
        ),
        settlements=(
            ("vera", "olga", "120.00", 4, "In cash"),
            ("lucia", "ed", "60.00", 6, "Transfer"),
        ),
    ),
    Journey(
        code="KYTXA",
        title="Maple leaves in Japan",
        destination="Kyoto and Tokyo",
        description="Ten days in November, by train.",
        start="2025-11-08",
        days=10,
        currency="JPY",
        budget="900000",
        members={"sam": "OWNER", "olga": "EDITOR", "noor": "EDITOR", "jonas": "VIEWER"},
        expenses="""
        0 | Rail passes | TRANSPORT | 200000 | sam | all
        0 | Ryokan in Gion, five nights | ACCOMMODATION | 284000 | sam 184000 olga 100000 | all
        0 | Ramen at the station | FOOD | 4350 | jonas | all
        1 | Bicycles for a day | TRANSPORT | 6000 | noor | all
        1 | Tofu lunch at Nanzen-ji | FOOD | 13200 | olga | all
        1 | Tea ceremony | ACTIVITIES | 12500 | noor | SHARES olga 2 noor 2 jonas 1
        2 | Bus to Arashiyama | TRANSPORT | 1840 | sam | all
        2 | Boat on the Hozu river | ACTIVITIES | 24000 | sam | all
        2 | Matcha ice cream | FOOD | 1700 | olga | olga noor jonas
        3 | Day trip to Nara | TRANSPORT | 5760 | noor | all
        3 | Crackers for the deer | OTHER | 800 | jonas | olga jonas
        3 | Okonomiyaki | FOOD | 9980 | sam | MANUAL sam 2600 olga 2480 noor 2500 jonas 2400
        4 | Umbrellas, it rained | OTHER | 2970 | noor | noor sam jonas
        4 | Kaiseki dinner | FOOD | 66000 | olga 33000 noor 33000 | all
        5 | Hotel | ACCOMMODATION | 238500 | noor | PERCENTAGE sam 30 olga 30 noor 20 jonas 20
        5 | Bento for the Shinkansen | FOOD | 5280 | sam | all
        6 | Metro cards | TRANSPORT | 8000 | jonas | all
        6 | Sushi at the market | FOOD | 21450 | sam | all
        6 | Digital art museum | ACTIVITIES | 15200 | olga | all
        7 | Coin laundry | OTHER | 1400 | olga | olga noor
        7 | Karaoke | ACTIVITIES | 9333 | jonas | all
        8 | Onsen in Hakone | ACTIVITIES | 11000 | noor | noor olga sam jonas
        8 | Romancecar to Hakone | TRANSPORT | 9880 | noor | all
        9 | Farewell izakaya | FOOD | 27610 | sam | SHARES sam 3 olga 2 noor 2 jonas 4
        9 | Limousine bus to the airport | TRANSPORT | 14400 | olga | all
        """,
        paid=(("olga", "Rail passes"), ("noor", "Rail passes"), ("noor", "Farewell izakaya")),
        settlements=(
            ("jonas", "sam", "100000", 9, "From the machine at the airport"),
            ("olga", "noor", "30000", 14, "Transfer"),
        ),
    ),
    Journey(
        code="NYCUS",
        title="New York for the marathon",
        destination="New York",
        description="Ed runs, we cheer.",
        start="2025-10-30",
        days=6,
        currency="USD",
        budget="5000.00",
        members={
            "ed": "OWNER",
            "vera": "EDITOR",
            "sam": "EDITOR",
            "lucia": "VIEWER",
            "ada": "VIEWER",
        },
        expenses="""
        0 | Apartment in Brooklyn, five nights | ACCOMMODATION | 1725.00 | ed | all
        0 | Cab from JFK | TRANSPORT | 84.56 | vera | all
        0 | Pizza, three pies | FOOD | 76.20 | sam | all
        1 | Subway cards | TRANSPORT | 170.00 | ed | all
        1 | Bagels | FOOD | 31.45 | vera | SHARES ed 2 vera 1 sam 1 lucia 1 ada 1
        1 | Museum of Modern Art | ACTIVITIES | 120.00 | sam | vera sam lucia ada
        1 | Groceries with a lot of pasta | FOOD | 63.18 | ed | all
        2 | Tickets for a musical, bought at home | ACTIVITIES | 380.00 EUR 1.16 | vera | all
        2 | Late dinner | FOOD | 214.75 | sam 114.75 vera 100 | PERCENTAGE vera 35 sam 35 lucia 30
        3 | Cardboard and paint for the signs | OTHER | 27.33 | vera | vera sam lucia ada
        3 | Coffee along the course | FOOD | 42.10 | sam | vera sam lucia ada
        3 | Champagne at the finish | FOOD | 118.00 | vera 59 sam 59 | MANUAL vera 50 sam 50 ada 18
        4 | Ferry and the statue | ACTIVITIES | 125.00 | sam | all
        4 | Massage for the runner | OTHER | 95.00 | vera | vera sam lucia ada
        4 | Dim sum in Chinatown | FOOD | 132.87 | ed | all
        5 | Bikes in Central Park | TRANSPORT | 88.00 | ed | ed vera sam
        5 | Diner breakfast | FOOD | 91.64 | sam | all
        5 | Postcards and stamps | OTHER | 18.60 | sam | vera sam
        5 | Tip for the doorman | OTHER | 20.00 | ed | all
        5 | Cab to JFK | TRANSPORT | 92.00 | vera | all
        """,
        paid=(("ada", "Apartment in Brooklyn"), ("ada", "Cab from JFK"), ("sam", "Subway cards")),
        settlements=(
            ("lucia", "ed", "400.00", 5, "Thank you for having us"),
            ("vera", "ed", "250.00", 8, ""),
        ),
    ),
    Journey(
        code="KWTDS",
        title="Stars over the desert",
        destination="Kuwait",
        description="A long weekend in a tent, with family.",
        start="2026-01-22",
        days=4,
        currency="KWD",
        budget="400.000",
        members={"noor": "OWNER", "lucia": "EDITOR", "ed": "VIEWER"},
        expenses="""
        0 | Two tents and a stove, hired | ACCOMMODATION | 96.000 | noor | all
        0 | Four-wheel drive, three days | TRANSPORT | 87.750 | lucia | all
        0 | Petrol | TRANSPORT | 9.125 | ed | all
        0 | Machboos and dates | FOOD | 14.350 | noor | all
        1 | Firewood | OTHER | 4.500 | noor | SHARES noor 1 lucia 1 ed 2
        1 | Telescope for a night | ACTIVITIES | 25.000 | lucia 15 ed 10 | all
        1 | Water and ice | FOOD | 6.245 | ed | all
        2 | Falcon show | ACTIVITIES | 18.000 | lucia | lucia ed
        2 | Lamb from the market | FOOD | 22.800 | noor | PERCENTAGE noor 30 lucia 30 ed 40
        2 | Sweets from the souq | FOOD | 7.100 | noor | MANUAL noor 2.100 lucia 3.250 ed 1.750
        3 | Kuwait Towers | ACTIVITIES | 9.000 | noor | all
        3 | Breakfast at the fish market | FOOD | 11.475 | ed | all
        3 | Car wash, sand everywhere | OTHER | 5.000 | lucia | all
        """,
        settled_up=True,
    ),
    Journey(
        code="ZRMTT",
        title="Ski week in Zermatt",
        destination="Zermatt",
        description="A chalet, eight pairs of skis and one raclette oven.",
        start="2026-02-28",
        days=7,
        currency="CHF",
        budget="9000.00",
        members={
            "jonas": "OWNER",
            "olga": "EDITOR",
            "ed": "EDITOR",
            "vera": "EDITOR",
            "sam": "VIEWER",
            "noor": "VIEWER",
            "lucia": "VIEWER",
        },
        expenses="""
        0 | Chalet, seven nights | ACCOMMODATION | 4480.00 | jonas 2480 olga 2000 | all
        0 | Train up from Täsch | TRANSPORT | 115.50 | ed | all
        0 | Raclette cheese, four kilos | FOOD | 131.60 | vera | all
        1 | Lift passes, six days | ACTIVITIES | 3024.00 | jonas | all
        1 | Skis hired for beginners | ACTIVITIES | 468.00 | olga | noor lucia sam
        1 | Ski school | ACTIVITIES | 540.00 | jonas | SHARES noor 3 lucia 3 sam 2
        1 | Soup on the sunny terrace | FOOD | 147.20 | ed | all
        2 | Supermarket | FOOD | 218.45 | olga | all
        2 | New goggles for the lost ones | OTHER | 79.90 | vera | ed vera
        3 | Pizza in Cervinia | FOOD | 126.00 EUR 0.94 | olga | all
        3 | Fondue in the chalet | FOOD | 98.30 | vera | jonas olga ed vera sam noor
        4 | Gornergrat railway | TRANSPORT | 336.00 | jonas | PERCENTAGE olga 30 ed 30 noor 40
        4 | Sauna logs | OTHER | 36.00 | ed | jonas ed vera sam
        4 | Bakery, a week of bread | FOOD | 84.75 | vera | all
        5 | Igloo bar | FOOD | 91.00 | ed 51 jonas 40 | MANUAL jonas 21 olga 14 ed 28 vera 14 sam 14
        5 | Sledges at night | ACTIVITIES | 112.00 | olga | all
        5 | Knee bandage | OTHER | 24.90 | vera | sam
        6 | Last supper at the Findlerhof | FOOD | 611.40 | jonas | all
        6 | Waxing of six pairs | OTHER | 90.00 | ed | SHARES olga 1 ed 1 vera 1 jonas 3
        6 | Cleaning of the chalet | ACCOMMODATION | 260.00 | olga | all
        6 | Train down to Visp | TRANSPORT | 259.00 | ed | all
        6 | Cake at Ruth's in Visp | FOOD | 48.60 | ruth | jonas olga ed ruth
        6 | Train down, once more | TRANSPORT | 259.00 | vera | jonas olga ed vera
        """,
        guests=(("ruth", "Ruth"),),
        claimed=(("lucia", "Lucía, a friend of Noor"),),
        comments=(
            ("noor", "Ski school", "Three days for me, two for Sam."),
            ("jonas", "Cake at Ruth's", "My aunt does not want the money, so I keep it for her."),
            ("ed", "Train down, once more", "I have recorded it already."),
        ),
        deleted=(("vera", "Train down, once more"),),
        invitations=("For next winter",),
        paid=(
            ("vera", "Chalet, seven nights"),
            ("ed", "Lift passes"),
            ("noor", "Skis hired"),
            ("sam", "Knee bandage"),
        ),
        settlements=(
            ("sam", "jonas", "900.00", 6, "Lift pass and school"),
            ("lucia", "jonas", "500.00", 9, "First half"),
            ("lucia", "olga", "150.00", 9, ""),
            ("noor", "jonas", "1250.00", 12, "More than I owe you, the rest is for summer"),
        ),
    ),
)
