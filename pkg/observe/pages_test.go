package observe

import (
	"net/http"
	"strings"
	"testing"

	"github.com/evenkeel/evenkeel/pkg/history"
)

func TestPages_GoOnAtAnotherMember(t *testing.T) {
	of, others := hostedResource{"", "configmaps"}, hostedResource{"", "secrets"}
	var p pages
	for _, step := range []struct {
		why, member string
		of          hostedResource
		at          int64
		want        string
	}{
		{"there is no other", "cp1", of, 0, "cp1"},
		{"its own of before is no other", "cp1", of, 1, "cp1"},
		{"the other one's", "cp2", of, 2, "cp1"},
		{"the newest of two", "cp3", of, 3, "cp2"},
		{"of another resource", "cp3", others, 4, "cp3"},
		{"the other ones are just not too old", "cp2", of, 3 + int64(ReadPageAge), "cp3"},
		{"the other ones are too old", "cp3", of, 4 + 2*int64(ReadPageAge), "cp3"},
	} {
		own := page{token: step.member, member: step.member, at: step.at}
		if got := p.turn(step.of, own); got.member != step.want || got.member == own.member && got != own {
			t.Errorf("%s: %+v, want one of %s", step.why, got, step.want)
		}
	}
}

// paged has a member answer lists of three ConfigMaps in pages: two, and what the answer is.
func paged(t *testing.T, answer *http.HandlerFunc) *http.ServeMux {
	t.Helper()
	mux := http.NewServeMux()
	mux.HandleFunc("GET /api/v1/configmaps", func(w http.ResponseWriter, r *http.Request) {
		switch query := r.URL.Query(); {
		case query.Get("watch") != "":
			reply(422, `{"kind":"Status","reason":"Invalid"}`)(w, r)
		case query.Get("continue") != "":
			if query.Get("continue") != "after-b" || query.Get("limit") == "" {
				t.Errorf("it asks for %s", r.URL.RawQuery)
			}
			(*answer)(w, r)
		case query.Get("limit") != "":
			reply(200, strings.Replace(listOf(4, "a@2", "b@3"), `"4"`, `"4","continue":"after-b"`, 1))(w, r)
		default:
			reply(200, listOf(4, "a@2", "b@3", "c@4"))(w, r)
		}
	})
	mux.HandleFunc("GET /api/v1/namespaces/n/configmaps/{name}", reply(404, `{"kind":"Status"}`))
	return mux
}

// continued is the last page after the first one, which cp1 answered.
func continued(t *testing.T, m *memory) *history.Read {
	t.Helper()
	var last *history.Read
	for _, e := range m.of(history.KindRead) {
		if e.Read.How == history.ReadContinued {
			last = e.Read
		}
	}
	if last == nil || last.By != "cp1" || last.Before != 2 || last.After != 4 || last.Limit != ReadLimit {
		t.Fatalf("%+v", last)
	}
	return last
}

// A client behind a load balancer asks each member for a page, and each goes on where the one before
// ended.
func TestReadsGoOnByTheTokenOfAnotherMember(t *testing.T) {
	var answer http.HandlerFunc
	mux := paged(t, &answer)
	reads, client, m := readable(t, mux)
	config, err := serve(t, mux)()
	if err != nil {
		t.Fatal(err)
	}
	second, err := NewClient("cp2", config, m)
	if err != nil {
		t.Fatal(err)
	}
	defer second.Close()
	after := func(client *Client, code int, body string) *history.Read {
		answer = reply(code, body)
		reads.Ask(t.Context(), client, 0)
		return continued(t, m)
	}
	after(client, 200, listOf(4, "c@4"))
	if read := after(second, 200, listOf(4, "c@4")); !read.Agrees() || read.Stored != 1 || read.ResourceVersion != 4 {
		t.Errorf("%+v", read)
	}
	if read := after(second, 200, listOf(4)); read.Missing != 1 || read.Names[0].Name != "n/c" {
		t.Errorf("without the last object: %+v", read)
	}
	const expired = `{"kind":"Status","reason":"Expired"}`
	if read := after(second, 410, expired); read.Code != http.StatusGone || read.NotCompared != "" {
		t.Errorf("refused while etcd has the revision: %+v", read)
	}
	forget(t, reads, 5)
	if read := after(second, 410, expired); read.Code != http.StatusGone || !strings.Contains(read.NotCompared, "compacted") {
		t.Errorf("refused after etcd has forgotten the revision: %+v", read)
	}
}

// forget has etcd come to a revision and forget what was before.
func forget(t *testing.T, reads *Reads, revision int64) {
	t.Helper()
	etcd, err := reads.etcd.client("cp1")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := etcd.Put(t.Context(), "/other", ""); err != nil {
		t.Fatal(err)
	}
	if _, err := etcd.Compact(t.Context(), revision); err != nil {
		t.Fatal(err)
	}
}
