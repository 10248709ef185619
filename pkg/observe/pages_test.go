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

// A client behind a load balancer asks each member for a page, and each goes on where the one before
// ended.
func TestReadsGoOnByTheTokenOfAnotherMember(t *testing.T) {
	mux := http.NewServeMux()
	answer := reply(200, listOf(4, "c@4"))
	mux.HandleFunc("GET /api/v1/configmaps", func(w http.ResponseWriter, r *http.Request) {
		switch query := r.URL.Query(); {
		case query.Get("watch") != "":
			reply(422, `{"kind":"Status","reason":"Invalid"}`)(w, r)
		case query.Get("continue") != "":
			if query.Get("continue") != "after-b" || query.Get("limit") == "" {
				t.Errorf("it asks for %s", r.URL.RawQuery)
			}
			answer(w, r)
		case query.Get("limit") != "":
			reply(200, strings.Replace(listOf(4, "a@2", "b@3"), `"4"`, `"4","continue":"after-b"`, 1))(w, r)
		default:
			reply(200, listOf(4, "a@2", "b@3", "c@4"))(w, r)
		}
	})
	mux.HandleFunc("GET /api/v1/namespaces/n/configmaps/{name}", reply(404, `{"kind":"Status"}`))
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
	continued := func() *history.Read {
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
	reads.Ask(t.Context(), client, 0)
	reads.Ask(t.Context(), second, 0)
	if read := continued(); !read.Agrees() || read.Stored != 1 || read.ResourceVersion != 4 {
		t.Errorf("%+v", read)
	}
	answer = reply(200, listOf(4))
	reads.Ask(t.Context(), second, 0)
	if read := continued(); read.Missing != 1 || read.Names[0].Name != "n/c" {
		t.Errorf("without the last object: %+v", read)
	}
	answer = reply(410, `{"kind":"Status","reason":"Expired"}`)
	reads.Ask(t.Context(), second, 0)
	if read := continued(); read.Code != http.StatusGone || read.NotCompared != "" {
		t.Errorf("refused while etcd has the revision: %+v", read)
	}
	etcd, err := reads.etcd.client("cp1")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := etcd.Put(t.Context(), "/other", ""); err != nil {
		t.Fatal(err)
	}
	if _, err := etcd.Compact(t.Context(), 5); err != nil {
		t.Fatal(err)
	}
	reads.Ask(t.Context(), second, 0)
	if read := continued(); read.Code != http.StatusGone || !strings.Contains(read.NotCompared, "compacted") {
		t.Errorf("refused after etcd has forgotten the revision: %+v", read)
	}
}
