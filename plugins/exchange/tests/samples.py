"""Small files of every format, with what they say about balances, in minor units."""

SPLITWISE_CSV = """\
Date,Description,Category,Cost,Currency,Ana P,Ben,"Cleo, Jr"

2026-05-01,"Ferry, one way",Bus/train,90.00,EUR,60.00,-30.00,-30.00
2026-05-02,Dinner (Ana 60 + Ben 40),Dining out,100.00,EUR,26.67,6.66,-33.33
2026-05-03,Ben paid Ana P,Payment,30.00,EUR,-30.00,30.00,0.00

2026-05-04,Total balance, , ,EUR,56.67,6.66,-63.33
"""
SPLITWISE_API = """\
{"expenses":[{"id":7,"group_id":3,"description":"Hut","details":null,"payment":false,
 "cost":"100.0","currency_code":"EUR","date":"2026-05-01T18:00:00Z","deleted_at":null,
 "updated_at":"2026-05-01T18:02:00Z","repeat_interval":null,"category":{"id":47,"name":"Hotel"},
 "users":[{"user_id":1,"user":{"id":1,"first_name":"Ana","last_name":null},
   "paid_share":"60.0","owed_share":"33.34","net_balance":"26.66"},
  {"user_id":2,"user":{"id":2,"first_name":"Ben","last_name":"Q"},
   "paid_share":"40.0","owed_share":"66.66","net_balance":"-26.66"}],
 "repayments":[{"from":2,"to":1,"amount":"26.66"}]}],
 "groups":[{"id":3,"name":"Alps","members":[
  {"id":1,"first_name":"Ana","last_name":null,"email":"ana@example.com",
   "registration_status":"confirmed","balance":[{"currency_code":"EUR","amount":"26.66"}]},
  {"id":2,"first_name":"Ben","last_name":"Q","email":"ben@example.com",
   "registration_status":"dummy","balance":[{"currency_code":"EUR","amount":"-26.66"}]}]}]}
"""
SPLIIT_JSON = """\
{"id":"g1","name":"Alps","information":null,"currency":"€","currencyCode":"EUR",
 "participants":[{"id":"p1","name":"Ana"},{"id":"p2","name":"Ben"}],
 "expenses":[{"id":"e1","createdAt":"2026-05-01T18:00:00.000Z",
  "expenseDate":"2026-05-01T00:00:00.000Z","title":"Hut",
  "category":{"grouping":"Transportation","name":"Hotel"},"amount":1001,"originalAmount":1070,
  "originalCurrency":"CHF","conversionRate":"0.9355","paidById":"p1",
  "paidFor":[{"participantId":"p1","shares":100},{"participantId":"p2","shares":300}],
  "isReimbursement":false,"splitMode":"BY_SHARES","recurrenceRule":"NONE","notes":"2 nights"}],
 "activities":[]}
"""
SPLIIT_CSV = """\
\ufeff"Date","Description","Category","Currency","Cost","Original cost","Original currency",\
"Conversion rate","Is Reimbursement","Split mode","Ana","Ben"
"2026-05-01","Hut","Hotel","EUR","10.01","10.70","CHF","0.9355","No",\
"Unevenly – By shares",2.5,-7.51
"2026-05-02","Payback","Payment","EUR","5.00",,,,"Yes","Evenly",0,-5
"""
# Of a project without a currency: its bills have the code that ISO 4217 has for none.
IHATEMONEY_JSON = """\
[{"what":"Market","bill_type":"Expense","amount":33.4,"currency":"EUR","date":"2026-05-01",
  "payer_name":"Ana","payer_weight":2.0,"owers":["Ana","Ben"]},
 {"what":"Settle","bill_type":"Reimbursement","amount":5.0,"currency":"XXX","date":"2026-05-02",
  "payer_name":"Ben","payer_weight":1.0,"owers":["Ana"]}]
"""
IHATEMONEY_CSV = """\
what,amount,currency,date,payer_name,payer_weight,owers\r
refund,13.33,EUR,2017-01-01,tata,1.0,"jeanne, Zoé"\r
"""
COSPEND_CSV = """\
name,weight,active,color
"Ana",2,1,"#112233"
"Ben",1,0,"#445566"

what,amount,date,timestamp,payer_name,payer_weight,payer_active,owers,repeat,repeatfreq,\
repeatallactive,repeatuntil,categoryid,paymentmode,paymentmodeid,comment,deleted
"Hut (250 CZK)",10.26,2026-05-01,1777672800,"Ana",2,1,"Ana,Ben",m,1,0,2026-12-01,3,c,1,\
"two+nights%2C+cash",0

categoryname,categoryid,icon,color
"Lodging",3,"🏠","#AA5500"

paymentmodename,paymentmodeid,icon,color
"Card",1,"💳","#228833"

currencyname,exchange_rate
"EUR",1
"CZK",0.041
"""
ABRECHNUNG = """\
{"version":1,"metadata":{"name":"Alps","description":"","currency_identifier":"EUR","terms":"",
  "add_user_account_on_join":false},
 "personal_accounts":[{"id":1,"name":"Ana","description":""},
  {"id":2,"name":"Ben","description":""}],
 "events":[{"id":3,"name":"Hut evening","description":"","date_info":"2026-05-01","tags":[],
  "clearing_shares":{"1":1.0,"2":1.0}}],
 "transactions":[{"id":1,"type":"purchase","name":"Shop","description":"","value":22.0,
  "currency_identifier":"CHF","currency_conversion_rate":0.96,"billed_at":"2026-05-01",
  "tags":["food"],"split_mode":"shares","creditor_shares":{"1":1.0},"debitor_shares":{"3":1.0},
  "positions":[{"id":1,"name":"Beer","price":2.0,"communist_shares":1.0,"usages":{"2":1.0}}],
  "files":[]}]}
"""
SPLITPRO_CSV = """\
Paid By,Name,Category,Amount,Split Type,Expense Date,Currency,You Lent,You Owe,Settlement
You,"Hut, night 1",hotel,60.00,EQUAL,2026-05-01 20:15:00,EUR,30.00,0,0
Ben,Payback,general,30.00,SETTLEMENT,2026-05-02 09:00:00,EUR,0,0,30.00
"""
SPLITPRO_JSON = """\
{"friends":{"2":{"id":2,"email":"ben@example.com","name":"Ben",
  "balances":[{"currency":"EUR","amount":"3000"}]}},
 "groups":[{"id":5,"publicId":"x","name":"Alps","userId":1,"defaultCurrency":"EUR",
  "groupUsers":[{"groupId":5,"userId":1},{"groupId":5,"userId":2}],
  "groupBalances":[
   {"userId":1,"friendId":2,"groupId":5,"currency":"EUR","amount":"2000",
    "updatedAt":"2026-05-02T09:00:00.000Z"},
   {"userId":2,"friendId":1,"groupId":5,"currency":"EUR","amount":"-2000",
    "updatedAt":"2026-05-02T09:00:00.000Z"}]}]}
"""
SETTLE_UP = """\
Who paid,Amount,Currency,For whom,Split amounts,Purpose,Category,Date & time,Timezone,\
Exchange rate,Converted amount,Type,Receipt
Ana;Ben,60;40,EUR,Ana;Ben;Cleo,33.34;33.33;33.33,Hut,🏠,2026-05-01 18:00:00,Europe/Berlin,\
1,100,expense,
Ben,10,EUR,Ana,10,,,2026-05-02 09:00:00,Europe/Berlin,1,10,transfer,
"""
TRICOUNT = """\
{"Response":[{"Registry":{"title":"Alps","currency":"EUR","status":"READ_WRITE",
 "memberships":[
  {"RegistryMembershipNonUser":{"id":1,"uuid":"m1","status":"ACTIVE",
   "alias":{"display_name":"Ana"}}},
  {"RegistryMembershipNonUser":{"id":2,"uuid":"m2","status":"ACTIVE",
   "alias":{"display_name":"Ben"}}}],
 "all_registry_entry":[{"RegistryEntry":{"id":9,"uuid":"t1","date":"2026-05-01 18:00:00.000000",
  "description":"Hut","type_transaction":"NORMAL","status":"ACTIVE",
  "amount":{"currency":"EUR","value":"-36.00"},
  "membership_owned":{"RegistryMembershipNonUser":{"uuid":"m1"}},
  "allocations":[
   {"membership":{"RegistryMembershipNonUser":{"uuid":"m1"}},
    "amount":{"currency":"EUR","value":"-7.00"},"type":"AMOUNT"},
   {"membership":{"RegistryMembershipNonUser":{"uuid":"m2"}},
    "amount":{"currency":"EUR","value":"-29.00"},"type":"RATIO","share_ratio":1}]}}]}}]}
"""

#: The format of each file, and the balances that follow from it, by person and currency; None if
#: they depend on who gets odd cents.
SAMPLES = {
    "splitwise_csv": (
        SPLITWISE_CSV,
        {("Ana P", "EUR"): 5667, ("Ben", "EUR"): 666, ("Cleo, Jr", "EUR"): -6333},
    ),
    "splitwise_api": (SPLITWISE_API, {("1", "EUR"): 2666, ("2", "EUR"): -2666}),
    "spliit_csv": (SPLIIT_CSV, None),
    "splitpro_csv": (SPLITPRO_CSV, {}),
    "splitpro_json": (SPLITPRO_JSON, {("1", "EUR"): 2000, ("2", "EUR"): -2000}),
    "abrechnung": (ABRECHNUNG, {("1", "CHF"): 1150, ("2", "CHF"): -1150}),
    "settle_up": (SETTLE_UP, {("Ana", "EUR"): 1666, ("Ben", "EUR"): 1667, ("Cleo", "EUR"): -3333}),
    "tricount": (TRICOUNT, {("m1", "EUR"): 2900, ("m2", "EUR"): -2900}),
    "cospend": (COSPEND_CSV, {("Ana", "EUR"): 342, ("Ben", "EUR"): -342}),
    "spliit_json": (SPLIIT_JSON, None),
    "ihatemoney": (IHATEMONEY_JSON, None),
}
