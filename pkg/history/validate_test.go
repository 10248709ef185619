package history

import (
	"bytes"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
)

const validHeader = `{"format":"evenkeel-history","version":2,"members":[{"name":"cp1"},{"name":"cp2"}]}` + "\n"

// Each line is the second of a history, and breaks one rule of the format.
func TestReader_RefusesWhatBreaksTheFormat(t *testing.T) {
	const first, last = `{"seq":1,"at":100,"kind":"recorderMissed","recorderMissed":{"source":"etcd","message":"m"}}`, `{"seq":3,"at":300,"kind":"end","end":{"complete":true}}`
	for _, test := range []struct{ name, line, want string }{
		{"sound", `{"seq":2,"at":200,"from":150,"kind":"ready","member":"cp1","ready":{"code":200}}`, ""},
		{"an empty list as null", `{"seq":2,"at":200,"kind":"hostedResources","member":"cp1","hostedResources":{"revision":1,"resources":[{"resource":"pods","kind":"Pod","served":null}]}}`, ""},
		{"null in a text", `{"seq":2,"at":200,"kind":"recorderMissed","recorderMissed":{"source":"etcd","message":"null"}}`, ""},
		{"what a server says of itself", `{"seq":2,"at":200,"kind":"stored","stored":{"type":"put","key":"k","revision":9,"lease":{"durationSeconds":-5}}}`, ""},
		{"a field of a later version", `{"seq":2,"at":200,"kind":"ready","member":"cp1","more":{"x":null},"ready":{"code":200,"more":null}}`, ""},

		{"no time", `{"seq":2,"kind":"recorderMissed","recorderMissed":{"source":"etcd","message":"m"}}`, "has no time"},
		{"null as time", `{"seq":2,"at":null,"kind":"recorderMissed","recorderMissed":{"source":"etcd","message":"m"}}`, "has null as its \"at\""},
		{"a negative time", `{"seq":2,"at":-1,"kind":"recorderMissed","recorderMissed":{"source":"etcd","message":"m"}}`, "has the time -1"},
		{"a time far away", `{"seq":2,"at":900000000000000,"kind":"recorderMissed","recorderMissed":{"source":"etcd","message":"m"}}`, "has the time 900000000000000"},
		{"a time that goes back", `{"seq":2,"at":99,"kind":"recorderMissed","recorderMissed":{"source":"etcd","message":"m"}}`, "has the time 99 after 100"},
		{"a beginning after the end", `{"seq":2,"at":200,"from":201,"kind":"ready","member":"cp1","ready":{"code":200}}`, "was over before that"},
		{"a negative beginning", `{"seq":2,"at":200,"from":-1,"kind":"ready","member":"cp1","ready":{"code":200}}`, "began at the time -1"},
		{"a time as text", `{"seq":2,"at":"200","kind":"recorderMissed","recorderMissed":{"source":"etcd","message":"m"}}`, "is not valid JSON of this format"},
		{"an unknown member", `{"seq":2,"at":200,"kind":"ready","member":"cp9","ready":{"code":200}}`, `names the member "cp9"`},
		{"no member", `{"seq":2,"at":200,"kind":"ready","ready":{"code":200}}`, "does not say of which member"},
		{"an unknown member in a hold", `{"seq":2,"at":200,"kind":"hold","hold":{"phase":"end","releases":{"cp9":"1.2"}}}`, `names the member "cp9"`},
		{"an unknown member of etcd", `{"seq":2,"at":200,"kind":"etcdHealth","etcdHealth":{"members":[{"member":"cp9"}]}}`, `names the member "cp9"`},
		{"an unknown kind", `{"seq":2,"at":200,"kind":"leap"}`, `has the kind "leap"`},
		{"another payload", `{"seq":2,"at":200,"kind":"ready","member":"cp1","recorderMissed":{"source":"etcd","message":"m"}}`, "without its content"},
		{"two payloads", `{"seq":2,"at":200,"kind":"ready","member":"cp1","ready":{"code":200},"recorderMissed":{"source":"etcd"}}`, `with the content of "recorderMissed"`},
		{"a phase", `{"seq":2,"at":200,"kind":"step","step":{"index":1,"phase":"inject"}}`, `has the phase "inject"`},
		{"a phase of a fault", `{"seq":2,"at":200,"kind":"fault","fault":{"id":"f","phase":"end"}}`, `has the phase "end"`},
		{"a start", `{"seq":2,"at":200,"kind":"process","member":"cp1","process":{"component":"etcd","change":"started","instance":1}}`, ""},
		{"an end before the start", `{"seq":2,"at":200,"kind":"process","member":"cp1","process":{"component":"etcd","change":"exited","instance":1}}`, `tells of instance 1 of "etcd", which has not started`},
		{"a change", `{"seq":2,"at":200,"kind":"process","member":"cp1","process":{"component":"etcd","change":"left"}}`, `has the change "left"`},
		{"a type of change", `{"seq":2,"at":200,"kind":"stored","stored":{"type":"PUT","revision":1}}`, `has the type "PUT"`},
		{"a type of watch", `{"seq":2,"at":200,"kind":"watch","member":"cp1","watch":{"type":"LOST"}}`, `has the type "LOST"`},
		{"a class", `{"seq":2,"at":200,"kind":"request","member":"cp1","request":{"class":"garded"}}`, `has the class "garded"`},
		{"a flaw", `{"seq":2,"at":200,"kind":"request","member":"cp1","request":{"class":"invalid","invalid":"x"}}`, `has the invalid "x"`},
		{"a source", `{"seq":2,"at":200,"kind":"recorderMissed","recorderMissed":{"source":"etc"}}`, `has the source "etc"`},
		{"a null status", `{"seq":2,"at":200,"kind":"request","member":"cp1","request":{"class":"read","code":null}}`, `has null as its "request.code"`},
		{"a negative status", `{"seq":2,"at":200,"kind":"request","member":"cp1","request":{"class":"read","code":-1}}`, "has the status -1"},
		{"a negative revision", `{"seq":2,"at":200,"kind":"stored","stored":{"type":"put","revision":-1}}`, "has -1 as its revision"},
		{"starvation", `{"seq":2,"at":200,"from":150,"kind":"starvation","member":"cp1","starvation":{"cpu":50,"component":"etcd"}}`, ""},
		{"the beginning of starvation's recorder", `{"seq":2,"at":200,"kind":"starvation","starvation":{"measures":["cpu","harness"]}}`, ""},
		{"more waiting than time", `{"seq":2,"at":200,"from":150,"kind":"starvation","starvation":{"disk":51}}`, "which is not as long"},
		{"waiting without a beginning", `{"seq":2,"at":200,"kind":"starvation","starvation":{"disk":51}}`, "which is not as long"},
		{"negative waiting", `{"seq":2,"at":200,"from":150,"kind":"starvation","starvation":{"cpu":-1}}`, "has -1 as its cpu"},
		{"a measure", `{"seq":2,"at":200,"kind":"starvation","starvation":{"measures":["gpu"]}}`, `has the measure "gpu"`},
		{"bytes that are not UTF-8", "{\"seq\":2,\"at\":200,\"kind\":\"recorderMissed\",\"recorderMissed\":{\"source\":\"etcd\",\"message\":\"\xff\"}}", "not UTF-8"},
	} {
		t.Run(test.name, func(t *testing.T) {
			r, events := readAll(t, strings.NewReader(validHeader+strings.Join([]string{first, test.line, last}, "\n")+"\n"))
			got := strings.Join(r.Damage, "\n")
			if test.want == "" && (got != "" || len(events) != 3) {
				t.Errorf("%d events, damage %q", len(events), got)
			}
			if test.want != "" && (!strings.Contains(got, "Line 3 ") || !strings.Contains(got, test.want) || slices.ContainsFunc(events, func(e *Event) bool { return e.Seq == 2 })) {
				t.Errorf("%d events, damage %q, want %q", len(events), got, test.want)
			}
		})
	}
}

func TestReader_RefusesRevisionsThatGoBack(t *testing.T) {
	r, events := readAll(t, strings.NewReader(validHeader+
		`{"seq":1,"at":1,"kind":"stored","stored":{"type":"put","key":"a","revision":7}}`+"\n"+
		`{"seq":2,"at":2,"kind":"stored","stored":{"type":"put","key":"b","revision":7}}`+"\n"+
		`{"seq":3,"at":3,"kind":"stored","stored":{"type":"put","key":"c","revision":6}}`+"\n"+
		`{"seq":4,"at":4,"kind":"end","end":{}}`+"\n"))
	if len(events) != 3 || len(r.Damage) != 1 || !strings.Contains(r.Damage[0], "revision 6 of etcd after 7") {
		t.Errorf("%d events, damage %q", len(events), r.Damage)
	}
}

func TestReader_RefusesStarvationThatOverlaps(t *testing.T) {
	r, events := readAll(t, strings.NewReader(validHeader+
		`{"seq":1,"at":10,"from":5,"kind":"starvation","starvation":{"cpu":5}}`+"\n"+
		`{"seq":2,"at":20,"from":10,"kind":"starvation","starvation":{"cpu":5}}`+"\n"+
		`{"seq":3,"at":30,"from":19,"kind":"starvation","starvation":{"cpu":5}}`+"\n"+
		`{"seq":4,"at":40,"kind":"end","end":{}}`+"\n"))
	if len(events) != 3 || len(r.Damage) != 1 || !strings.Contains(r.Damage[0], "the stretch before ended at 20") {
		t.Errorf("%d events, damage %q", len(events), r.Damage)
	}
}

func TestNewReader_RefusesHeaders(t *testing.T) {
	for _, test := range []struct{ header, want string }{
		{`"members":[{"name":"a"},{"name":"a"}]`, "two members of the name"},
		{`"members":[{"name":""}]`, "a member without a name"},
		{`"members":[` + strings.Repeat(`{"name":"a"},`, MaxMembers) + `{"name":"b"}]`, "at most 100"},
		{`"judges":["SV-01","SV-02","SV-01"]`, `its list judges has "SV-01" twice`},
		{`"profiles":["p","p"]`, "its list profiles"},
		{`"migrationRate":-1`, "its migrationRate is -1"},
	} {
		_, err := NewReader(strings.NewReader(`{"format":"evenkeel-history","version":2,` + test.header + "}\n"))
		if err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%.60s: error %v, want %q", test.header, err, test.want)
		}
	}
}

// endless repeats a text until that many bytes of it are read.
type endless struct {
	text string
	left int
}

func (e *endless) Read(into []byte) (int, error) {
	if e.left <= 0 {
		return 0, fs.ErrClosed
	}
	n := min(len(into)-len(into)%len(e.text), e.left)
	copy(into, bytes.Repeat([]byte(e.text), n/len(e.text)))
	e.left -= n
	return n, nil
}

func TestReader_ComesToAnEnd(t *testing.T) {
	t.Run("a line without an end", func(t *testing.T) {
		r, events := readAll(t, &prefixed{validHeader, &endless{"x", 4 * MaxLine}})
		if len(events) != 0 || !strings.Contains(strings.Join(r.Damage, "\n"), "line 2 has more than 67108864 bytes") {
			t.Errorf("%d events, damage %q", len(events), r.Damage)
		}
		if cap(r.long) > 4*MaxLine {
			t.Errorf("%d bytes are kept of a line", cap(r.long))
		}
	})
	t.Run("empty lines without an end", func(t *testing.T) {
		in := &endless{"\n", 1 << 30}
		r, events := readAll(t, &prefixed{validHeader, in})
		if len(events) != 0 || len(r.Damage) > maxDamage+3 || !slices.Contains(r.Damage, "10000 lines break the format: what follows line 10001 was not read.") {
			t.Errorf("%d events, damage %q", len(events), r.Damage)
		}
		if in.left < 1<<29 {
			t.Errorf("it was read up to the last %d bytes", in.left)
		}
	})
}

type prefixed struct {
	text string
	rest *endless
}

func (p *prefixed) Read(into []byte) (int, error) {
	if p.text == "" {
		return p.rest.Read(into)
	}
	n := copy(into, p.text)
	p.text = p.text[n:]
	return n, nil
}

// A Writer must not record what a Reader refuses.
func TestWriter_EndsTheRunAtItsBounds(t *testing.T) {
	for _, test := range []struct {
		name   string
		size   int64
		event  Event
		length int
		want   string
	}{
		{"sound", 0, Event{At: int64(MaxTime)}, MaxLine - 1, ""},
		{"a line", 0, Event{}, MaxLine, "cannot be recorded"},
		{"the size", MaxSize - MaxLine - 10, Event{}, 10, "play a shorter scenario"},
		{"the time", 0, Event{At: int64(MaxTime) + 1}, 1, "has lasted 168h0m0s"},
	} {
		err := overBounds(test.size, test.event, test.length)
		if (err == nil) != (test.want == "") || err != nil && !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: %v, want %q", test.name, err, test.want)
		}
	}
	if MaxTime > time.Duration(1<<62) {
		t.Error("two times together overflow")
	}
}

// A constant that is added to this package and not to the list of what the format knows
// would make every history damaged that has it.
func TestValuesAreThoseOfTheConstants(t *testing.T) {
	known := map[string][]string{
		"Phase":    slices.Concat(texts(stepPhases), texts(faultPhases)),
		"Process":  processChanges,
		"Stored":   storedTypes,
		"Watch":    watchTypes,
		"Class":    requestClasses,
		"Invalid":  invalidValues,
		"Election": append(slices.Clone(electionValues), AbsentHolder, ThirdPartyHolder),
		"GapOf":    recorderSources,
		"Kind":     kindsOfPayloads(),
	}
	found := 0
	for name, value := range constants(t) {
		for prefix, values := range known {
			if strings.HasPrefix(name, prefix) {
				found++
				if !slices.Contains(values, value) {
					t.Errorf("the format does not know %s: add it to validate_values.go", name)
				}
			}
		}
	}
	if found < 40 {
		t.Errorf("%d constants were looked at", found)
	}
}

func kindsOfPayloads() []string {
	var out []string
	for kind := range payloads {
		out = append(out, string(kind))
	}
	return out
}

func texts[T ~string](values []T) []string {
	var out []string
	for _, v := range values {
		out = append(out, string(v))
	}
	return out
}

// constants of this package that are texts, by name.
func constants(t *testing.T) map[string]string {
	t.Helper()
	files, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]string{}
	visit := func(n ast.Node) bool {
		spec, ok := n.(*ast.ValueSpec)
		if !ok {
			return true
		}
		for i, name := range spec.Names {
			if i < len(spec.Values) {
				if literal, ok := spec.Values[i].(*ast.BasicLit); ok && literal.Kind == token.STRING && name.IsExported() {
					if value, err := strconv.Unquote(literal.Value); err == nil {
						out[name.Name] = value
					}
				}
			}
		}
		return true
	}
	for _, name := range files {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(file, visit)
	}
	return out
}

// What is told twice would be judged twice.
func TestReader_RefusesWhatWasToldBefore(t *testing.T) {
	stored := func(key string, revision int64) Event {
		return Event{Kind: KindStored, Stored: &Stored{Type: StoredPut, Key: key, Revision: revision}}
	}
	process := func(member, change string, instance int) Event {
		return Event{Kind: KindProcess, Member: member, Process: &Process{Component: ComponentEtcd, Change: change, Instance: instance}}
	}
	for _, tc := range []struct {
		name   string
		events []Event
		want   string
	}{
		{"two keys in a revision", []Event{stored("a", 5), stored("b", 5), stored("a", 6)}, ""},
		{"a key twice in a revision", []Event{stored("a", 5), stored("b", 5), stored("a", 5)}, `tells of revision 5 of "a" again`},
		{"two processes", []Event{process("cp1", ProcessStarted, 1), process("cp2", ProcessStarted, 1), process("cp1", ProcessStarted, 2), process("cp1", ProcessExited, 1)}, ""},
		{"a process twice", []Event{process("cp1", ProcessStarted, 1), process("cp1", ProcessStarted, 1)}, `tells that instance 1 of "etcd" started after instance 1`},
		{"the process before it again", []Event{process("cp1", ProcessStarted, 2), process("cp1", ProcessStarted, 1)}, `tells that instance 1 of "etcd" started after instance 2`},
		{"a pause of the next process", []Event{process("cp1", ProcessStarted, 1), process("cp1", ProcessPaused, 2)}, `tells of instance 2 of "etcd", which has not started`},
	} {
		v := newValidator(&Header{Members: []MemberHeader{{Name: "cp1"}, {Name: "cp2"}}})
		got := ""
		for i := range tc.events {
			if got = v.event(&tc.events[i]); got != "" {
				break
			}
			v.take(&tc.events[i])
		}
		if !strings.Contains(got, tc.want) || tc.want == "" && got != "" {
			t.Errorf("%s: %q, want %q", tc.name, got, tc.want)
		}
	}
}
