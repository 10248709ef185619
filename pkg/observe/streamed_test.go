package observe

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/evenkeel/evenkeel/pkg/history"
)

// toldOf is a line of a watch of an object, given as <name>@<revision>.
func toldOf(kind, object string) string {
	return fmt.Sprintf(`{"type":%q,"object":%s}`, kind, item(object))
}

// An informer takes what a watch has told of by the bookmark for all that there is (KEP-3157).
func TestReadsStreamLists(t *testing.T) {
	const end = `{"type":"BOOKMARK","object":{"metadata":{"resourceVersion":"4","annotations":{"k8s.io/initial-events-end":"true"}}}}`
	bookmark := strings.Replace(end, "k8s.io/initial-events-end", "other", 1)
	for name, c := range map[string]struct {
		lines []string
		want  history.Read
	}{
		"all of them":             {[]string{toldOf("ADDED", "a@2"), toldOf("ADDED", "b@3"), toldOf("ADDED", "c@4"), end}, history.Read{Code: 200, Items: 3, Stored: 3}},
		"one is missing":          {[]string{toldOf("ADDED", "a@2"), toldOf("ADDED", "c@4"), end}, history.Read{Code: 200, Items: 2, Stored: 3, Missing: 1}},
		"one comes too late":      {[]string{toldOf("ADDED", "a@2"), toldOf("ADDED", "c@4"), end, toldOf("ADDED", "b@3")}, history.Read{Code: 200, Items: 2, Stored: 3, Missing: 1}},
		"one is told of as older": {[]string{toldOf("ADDED", "a@2"), toldOf("ADDED", "b@2"), toldOf("ADDED", "c@4"), end}, history.Read{Code: 200, Items: 3, Stored: 3, Older: 1}},
		"one changes meanwhile":   {[]string{toldOf("ADDED", "a@2"), toldOf("ADDED", "b@2"), bookmark, toldOf("MODIFIED", "b@3"), toldOf("ADDED", "c@4"), end}, history.Read{Code: 200, Items: 3, Stored: 3}},
		"one goes meanwhile":      {[]string{toldOf("ADDED", "a@2"), toldOf("ADDED", "b@3"), toldOf("ADDED", "c@4"), toldOf("ADDED", "d@4"), toldOf("DELETED", "d@4"), end}, history.Read{Code: 200, Items: 3, Stored: 3}},
		"the member ends it": {[]string{toldOf("ADDED", "a@2"), `{"type":"ERROR","object":{"kind":"Status","code":500,"reason":"InternalError","message":"unable to decode"}}`},
			history.Read{Code: 500, Reason: "InternalError", Message: "unable to decode"}},
		"the member ends it for no reason": {[]string{`{"type":"ERROR","object":{}}`}, history.Read{Error: "the server ended the watch: ERROR 0 "}},
		"it ends before the bookmark":      {[]string{toldOf("ADDED", "a@2")}, history.Read{Error: "the watch ended before it had shown all objects: EOF"}},
	} {
		t.Run(name, func(t *testing.T) {
			reads, client, m := streaming(t, reply(200, strings.Join(c.lines, "\n")))
			reads.Ask(t.Context(), client, 0)
			got := readsByHow(t, m)[history.ReadStreamed]
			if got == nil {
				t.Fatal("it was not recorded")
			}
			want := c.want
			want.How, want.Version, want.Resource, want.After, want.Compared = history.ReadStreamed, "v1", "configmaps", 4, want.Code == 200
			if want.Compared {
				want.ResourceVersion = 4
			}
			want.Names = got.Names
			if fmt.Sprintf("%+v", *got) != fmt.Sprintf("%+v", want) {
				t.Errorf("%+v, want %+v", *got, want)
			}
		})
	}
}

// A member that does not know such watches refuses them, and that says nothing of it.
func TestReadsStreamNoListsWhereThatIsRefused(t *testing.T) {
	for code, recorded := range map[int]bool{http.StatusUnprocessableEntity: false, http.StatusServiceUnavailable: true} {
		reads, client, m := streaming(t, reply(code, `{"kind":"Status","reason":"Other"}`))
		reads.Ask(t.Context(), client, 0)
		if got := readsByHow(t, m)[history.ReadStreamed]; (got != nil) != recorded || recorded && got.Code != code {
			t.Errorf("%d: %+v", code, got)
		}
		if gaps := m.of(history.KindRecorderMissed); len(gaps) > 0 {
			t.Errorf("%d: %+v", code, gaps)
		}
	}
}

// streaming has a member answer watches of three ConfigMaps.
func streaming(t *testing.T, watch http.HandlerFunc) (*Reads, *Client, *memory) {
	t.Helper()
	mux := http.NewServeMux()
	mux.HandleFunc("GET /api/v1/configmaps", func(w http.ResponseWriter, r *http.Request) {
		query := r.URL.Query()
		if query.Get("watch") == "" {
			reply(200, listOf(4, "a@2", "b@3", "c@4"))(w, r)
			return
		}
		if query.Get("sendInitialEvents") != "true" || query.Get("resourceVersionMatch") != "NotOlderThan" || query.Has("resourceVersion") || query.Get("allowWatchBookmarks") != "true" {
			t.Errorf("it asks for %s", r.URL.RawQuery)
		}
		watch(w, r)
	})
	mux.HandleFunc("GET /api/v1/namespaces/n/configmaps/{name}", reply(404, `{"kind":"Status"}`))
	return readable(t, mux)
}
