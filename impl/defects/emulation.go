package defects

// Defects of emulated versions, KEP-4330.
const (
	EV01StoresOwnAtTimes ID = "EV-01-stores-own-at-times"
	EV01ForgetsOlder     ID = "EV-01-forgets-older"
	EV02HidesRemoved     ID = "EV-02-hides-removed"
	EV02HostsNewer       ID = "EV-02-hosts-newer"
	EV03RefusesBack      ID = "EV-03-refuses-when-back"
	EV04RefusesRaised    ID = "EV-04-refuses-when-raised"
	EV05BinaryFirst      ID = "EV-05-binary-first"
	EV06StoresAsBinary   ID = "EV-06-stores-as-its-binary"
	EV06SaysAsBinary     ID = "EV-06-says-as-its-binary"
	EV07FollowsTheFirst  ID = "EV-07-follows-the-first"
	EV07ForgetsOlder     ID = "EV-07-forgets-older"
	EV08TakesAny         ID = "EV-08-takes-any-version"
)

var emulationCatalog = []Defect{
	{EV01StoresOwnAtTimes, "EV-01", inAPIServer, "an API server that emulates another release stores every 20th ballast in the version of its binary"},
	{EV01ForgetsOlder, "EV-01", inAPIServer, "an API server stores ballasts in the version that it would without --min-compatibility-version"},
	{EV02HidesRemoved, "EV-02", inAPIServer, "an API server that emulates another release hosts ballasts in no version that its binary has removed"},
	{EV02HostsNewer, "EV-02", inAPIServer, "an API server that emulates another release also hosts ballasts in the versions that its binary has added"},
	{EV03RefusesBack, "EV-03", inAPIServer, "an API server that follows on one with a newer binary and the same behavior refuses to write ballasts"},
	{EV04RefusesRaised, "EV-04", inAPIServer, "an API server that follows on one with the same binary and another behavior refuses to write ballasts"},
	{EV05BinaryFirst, "EV-05", inAPIServer, "the coordinator compares the binaries of candidates first, and then what they emulate"},
	{EV06StoresAsBinary, "EV-06", inAPIServer, "an API server that emulates another release stores ballasts in the version of its binary, and says so"},
	{EV06SaysAsBinary, "EV-06", inAPIServer, "an API server that emulates another release says of migrations, of which there are none, that it stores them in the version of its binary"},
	{EV07FollowsTheFirst, "EV-07", inManager, "a migration begins when the first server has announced another version than the others, and goes by that one"},
	{EV07ForgetsOlder, "EV-07", inAPIServer, "as EV-01-forgets-older; where nothing else writes ballasts it shows by a migration alone"},
	{EV08TakesAny, "EV-08", inAPIServer, "an API server that cannot emulate what it is told to emulates nothing, and goes on"},
}
