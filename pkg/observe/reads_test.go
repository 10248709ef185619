package observe

import (
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"testing"

	clientv3 "go.etcd.io/etcd/client/v3"
	"k8s.io/utils/clock"

	"github.com/evenkeel/evenkeel/pkg/history"
	"github.com/evenkeel/evenkeel/pkg/observe/etcdtest"
)

// readable is an etcd with three ConfigMaps of the harness, at the revisions 2 to 4, and a
// member whose API server gives the canned answers.
func readable(t *testing.T, mux *http.ServeMux) (*Reads, *Client, *memory) {
	t.Helper()
	here := etcdtest.Start(t)
	m := newMemory()
	r := NewEtcd([]string{"cp1"}, func(string) (clientv3.Config, error) { return here, nil }, m, clock.RealClock{})
	t.Cleanup(r.close)
	etcd, err := r.client("cp1")
	if err != nil {
		t.Fatal(err)
	}
	for i, name := range []string{"a", "b", "c"} {
		value := fmt.Sprintf(`{"apiVersion":"v1","kind":"ConfigMap","metadata":{"namespace":"n","name":%q,"annotations":{%q:%q}}}`, name, WriteAnnotation, Tag("cp1", int64(i+1)))
		if _, err := etcd.Put(t.Context(), "/registry/configmaps/n/"+name, value); err != nil {
			t.Fatal(err)
		}
	}
	all, err := etcd.Get(t.Context(), "/registry/", clientv3.WithPrefix())
	if err != nil {
		t.Fatal(err)
	}
	for _, kv := range all.Kvs {
		r.stored(&clientv3.Event{Type: clientv3.EventTypePut, Kv: kv})
	}
	mux.HandleFunc("GET /api/v1", reply(200, `{"resources":[{"name":"configmaps"}]}`))
	return NewReads(r, m), dial(t, serve(t, mux), m), m
}

// item is an object of a list, given as <name>@<revision>.
func item(text string) string {
	name, revision, _ := strings.Cut(text, "@")
	return fmt.Sprintf(`{"metadata":{"namespace":"n","name":%q,"resourceVersion":%q}}`, name, revision)
}

func listOf(revision int, objects ...string) string {
	var items []string
	for _, one := range objects {
		items = append(items, item(one))
	}
	return fmt.Sprintf(`{"metadata":{"resourceVersion":"%d"},"items":[%s]}`, revision, strings.Join(items, ","))
}

// listCase is an answer to a list of three ConfigMaps, and how it compares with etcd.
type listCase struct {
	name, body                    string
	stored, missing, extra, older int
	names                         []history.ReadName
}

// check looks at the record of a list.
func (tc *listCase) check(t *testing.T, read *history.Read) {
	t.Helper()
	if !read.Compared || read.Stored != tc.stored || read.Missing != tc.missing || read.Extra != tc.extra || read.Older != tc.older || read.Newer != 0 || fmt.Sprint(read.Names) != fmt.Sprint(tc.names) {
		t.Errorf("%+v", read)
	}
	if sound := tc.names == nil; read.Agrees() != sound {
		t.Errorf("that it agrees is %v: %+v", !sound, read)
	}
}

// readsByHow are the recorded reads of ConfigMaps, by the kind of read.
func readsByHow(t *testing.T, m *memory) map[string]*history.Read {
	t.Helper()
	seen := map[string]*history.Read{}
	for _, e := range m.of(history.KindRead) {
		if e.Member != "cp1" || e.Read.Resource != "configmaps" || e.Read.Version != "v1" {
			t.Errorf("event %+v", e)
		}
		seen[e.Read.How] = e.Read
	}
	return seen
}

func TestReadsHoldListsAgainstEtcd(t *testing.T) {
	for _, tc := range []listCase{
		{"all of it", listOf(4, "a@2", "b@3", "c@4"), 3, 0, 0, 0, nil},
		{"an earlier state", listOf(3, "a@2", "b@3"), 2, 0, 0, 0, nil},
		{"one is missing", listOf(4, "a@2", "c@4"), 3, 1, 0, 0, []history.ReadName{{Name: "n/b", Stored: 3}}},
		{"one is too many", listOf(3, "a@2", "b@3", "c@4"), 2, 0, 1, 0, []history.ReadName{{Name: "n/c", Answered: 4}}},
		{"one is older", listOf(4, "a@2", "b@2", "c@4"), 3, 0, 0, 1, []history.ReadName{{Name: "n/b", Answered: 2, Stored: 3}}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			mux := http.NewServeMux()
			queries := map[string]bool{}
			mux.HandleFunc("GET /api/v1/configmaps", func(w http.ResponseWriter, r *http.Request) {
				if r.URL.Query().Get("watch") != "" {
					reply(422, `{"kind":"Status","reason":"Invalid"}`)(w, r)
					return
				}
				queries[r.URL.RawQuery] = true
				if !strings.Contains(r.Header.Get("Accept"), "PartialObjectMetadataList") {
					t.Errorf("it accepts %q", r.Header.Get("Accept"))
				}
				reply(200, tc.body)(w, r)
			})
			for i, name := range []string{"a", "b", "c"} {
				mux.HandleFunc("GET /api/v1/namespaces/n/configmaps/"+name, reply(200, item(name+"@"+strconv.Itoa(i+2))))
			}
			reads, client, m := readable(t, mux)
			reads.Ask(t.Context(), client, 0)
			seen := readsByHow(t, m)
			for _, how := range []string{history.ReadConsistent, history.ReadLimited, history.ReadCached, history.ReadNotOlder} {
				read := seen[how]
				if read == nil {
					t.Fatalf("no %s: %v", how, seen)
				}
				tc.check(t, read)
			}
			if get := seen[history.ReadGet]; get == nil || !get.Agrees() || get.Asked != 3 || get.Items != 3 || get.Stored != 3 || get.After != 4 {
				t.Errorf("get %+v", get)
			}
			if seen[history.ReadConsistent].After != 4 || seen[history.ReadCached].After != 0 || seen[history.ReadNotOlder].After != 4 {
				t.Errorf("the revisions are %d, %d, %d", seen[history.ReadConsistent].After, seen[history.ReadCached].After, seen[history.ReadNotOlder].After)
			}
			want := map[string]bool{"": true, "limit=50": true, "resourceVersion=0": true, "resourceVersion=4&resourceVersionMatch=NotOlderThan": true}
			if fmt.Sprint(queries) != fmt.Sprint(want) {
				t.Errorf("queries %v", queries)
			}
		})
	}
}

func TestReadsOfSingleObjects(t *testing.T) {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /api/v1/configmaps", reply(500, `{"kind":"Status","reason":"InternalError","message":"unable to decode"}`))
	mux.HandleFunc("GET /api/v1/namespaces/n/configmaps/a", reply(404, `{"kind":"Status"}`))
	mux.HandleFunc("GET /api/v1/namespaces/n/configmaps/b", reply(200, item("b@2")))
	mux.HandleFunc("GET /api/v1/namespaces/n/configmaps/c", reply(500, `{"kind":"Status","reason":"InternalError","message":"unable to decode"}`))
	reads, client, m := readable(t, mux)
	reads.Ask(t.Context(), client, 0)
	for _, e := range m.of(history.KindRead) {
		read := e.Read
		if read.Agrees() || read.Code != 500 || read.Reason != "InternalError" || read.Message != "unable to decode" {
			t.Errorf("read %+v", read)
		}
		if read.How == history.ReadGet && (read.Items != 1 || read.Missing != 1 || read.Older != 1 || read.Stored != 3) {
			t.Errorf("get %+v", read)
		}
	}
}

func TestReadsOfWhatAMemberDoesNotServe(t *testing.T) {
	mux := http.NewServeMux()
	reads, client, m := readable(t, mux)
	reads.etcd.written[hostedResource{"g.io", "things"}] = WrittenResource{Group: "g.io", Resource: "things", prefix: "/registry/g.io/things/"}
	delete(reads.etcd.written, hostedResource{"", "configmaps"})
	reads.Ask(t.Context(), client, 0)
	recorded := m.of(history.KindRead)
	if len(recorded) != 1 || !recorded[0].Read.NotServed || recorded[0].Read.Code != 404 || recorded[0].Read.Agrees() {
		t.Errorf("recorded %+v", recorded)
	}
}

// A member that does not answer is not asked for everything that it would not answer.
func TestReadsOfASilentMemberLeaveAGap(t *testing.T) {
	mux := http.NewServeMux()
	mux.HandleFunc("/", func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) })
	reads, client, m := readable(t, mux)
	reads.Ask(t.Context(), client, 0)
	if gaps := m.of(history.KindRecorderMissed); len(gaps) != 1 || gaps[0].RecorderMissed.Source != "read" || gaps[0].Member != "cp1" {
		t.Errorf("gaps %+v", gaps)
	}
	if recorded := m.of(history.KindRead); len(recorded) != 1 || recorded[0].Read.Error == "" || recorded[0].Read.Code != 0 {
		t.Errorf("recorded %+v", recorded)
	}
}

// A member has a cache for each version of a custom resource, so that each of them is asked.
func TestReadsAskTheCacheOfEachVersion(t *testing.T) {
	mux, asked := http.NewServeMux(), map[string]int{}
	mux.HandleFunc("GET /apis/g.io", reply(200, `{"versions":[{"version":"v2"},{"version":"v1"}]}`))
	for _, version := range []string{"v1", "v2"} {
		mux.HandleFunc("GET /apis/g.io/"+version, reply(200, `{"resources":[{"name":"things"}]}`))
		mux.HandleFunc("GET /apis/g.io/"+version+"/namespaces/n/things/x", reply(200, item("x@5")))
		mux.HandleFunc("GET /apis/g.io/"+version+"/things", func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Query().Get("watch") != "" {
				reply(422, `{"kind":"Status","reason":"Invalid"}`)(w, r)
				return
			}
			if r.URL.Query().Get("resourceVersionMatch") != "" {
				asked[version]++
			}
			reply(200, listOf(5, "x@5"))(w, r)
		})
	}
	reads, client, m := readable(t, mux)
	reads.etcd.written[hostedResource{"g.io", "things"}] = WrittenResource{Group: "g.io", Resource: "things", prefix: "/registry/g.io/things/"}
	delete(reads.etcd.written, hostedResource{"", "configmaps"})
	etcd, err := reads.etcd.client("cp1")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := etcd.Put(t.Context(), "/registry/g.io/things/n/x", `{}`); err != nil {
		t.Fatal(err)
	}
	reads.Ask(t.Context(), client, 0)
	if asked["v1"] != 1 || asked["v2"] != 1 {
		t.Errorf("asked %v times for lists that are not older: %+v", asked, m.of(history.KindRead))
	}
	for _, e := range m.of(history.KindRead) {
		if !e.Read.Agrees() {
			t.Errorf("read %+v", e.Read)
		}
	}
}
