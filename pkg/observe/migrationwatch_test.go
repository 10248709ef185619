package observe

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"

	"k8s.io/utils/clock"

	"github.com/evenkeel/evenkeel/pkg/history"
)

const migrationsPath = "/apis/storagemigration.k8s.io"

func TestMigrationsAreWatchedInThePreferredVersion(t *testing.T) {
	mux := http.NewServeMux()
	var flipped atomic.Bool
	mux.HandleFunc("GET "+migrationsPath, func(w http.ResponseWriter, r *http.Request) {
		preferred := "v1beta1"
		if flipped.Load() {
			preferred = "v1"
		}
		reply(200, fmt.Sprintf(`{"preferredVersion":{"version":%q},"versions":[{"version":"v1"},{"version":"v1beta1"}]}`, preferred))(w, r)
	})
	mux.HandleFunc("GET "+migrationsPath+"/v1beta1/storageversionmigrations", func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Query().Get("watch") == "" {
			reply(200, `{"metadata":{"resourceVersion":"9"},"items":[{"metadata":{"name":"old","resourceVersion":"7"}}]}`)(w, r)
			return
		}
		fmt.Fprintf(w, `{"type":"DELETED","object":{"metadata":{"name":"old","resourceVersion":"12"}}}`+"\n")
		flipped.Store(true)
	})
	mux.HandleFunc("GET "+migrationsPath+"/v1/storageversionmigrations", reply(500, `{"kind":"Status","code":500}`))
	m := newMemory()
	ctx, cancel := context.WithCancel(t.Context())
	running := make(chan struct{})
	go func() {
		defer close(running)
		NewMigrationWatch("cp1", serve(t, mux), m, clock.RealClock{}).Run(ctx)
	}()
	m.until(t, func(e history.Event) bool { return e.Watch.Type == history.WatchBroken && e.Watch.Code == 500 })
	cancel()
	<-running
	var told []string
	for _, e := range m.of(history.KindWatch)[:5] {
		told = append(told, fmt.Sprintf("%s %s %d %d", e.Watch.Type, e.Watch.Name, e.Watch.ResourceVersion, e.Watch.Code))
		if e.Watch.Resource != "storageversionmigrations" {
			t.Errorf("a watch of %q", e.Watch.Resource)
		}
	}
	if want := "OPENED  9 0, ADDED old 7 0, DELETED old 12 0, BROKEN  0 0, BROKEN  0 500"; strings.Join(told, ", ") != want {
		t.Errorf("recorded %v, want %s", told, want)
	}
}

func TestMigrationsAreListedInEachVersion(t *testing.T) {
	mux := http.NewServeMux()
	mux.HandleFunc("GET "+migrationsPath, reply(200, `{"preferredVersion":{"version":"v1"},"versions":[{"version":"v1"},{"version":"v1beta1"}]}`))
	mux.HandleFunc("GET "+migrationsPath+"/v1/storageversionmigrations", reply(200, `{"metadata":{"resourceVersion":"9"}}`))
	for _, version := range []string{"v1", "v1beta1"} {
		mux.HandleFunc("GET "+migrationsPath+"/"+version, reply(200, `{}`))
	}
	refusals := 0
	mux.HandleFunc("GET "+migrationsPath+"/v1beta1/storageversionmigrations", func(w http.ResponseWriter, r *http.Request) {
		if refusals++; refusals < 3 {
			reply(429, `{"kind":"Status","code":429}`)(w, r)
			return
		}
		reply(200, `{"metadata":{"resourceVersion":"9"}}`)(w, r)
	})
	m := newMemory()
	config, err := serve(t, mux)()
	if err != nil {
		t.Fatal(err)
	}
	client, err := NewClient("cp1", config, m)
	if err != nil {
		t.Fatal(err)
	}
	ListMigrations(t.Context(), client, clock.RealClock{})
	var told []string
	for _, e := range m.of(history.KindRequest) {
		told = append(told, fmt.Sprintf("%s %s %d", e.Request.Verb, e.Request.Version, e.Request.Code))
	}
	if want := "list v1 200, list v1beta1 429, list v1beta1 429, list v1beta1 200"; strings.Join(told, ", ") != want {
		t.Errorf("recorded %v, want %s", told, want)
	}
}

func TestMigrationVersionsAreThoseThatAMemberServes(t *testing.T) {
	for name, tc := range map[string]struct {
		listed string
		codes  map[string]int
		want   string
	}{
		"all that it lists":                          {`[{"version":"v1"},{"version":"v1beta1"}]`, map[string]int{"v1": 200, "v1beta1": 200}, "v1 v1beta1"},
		"what only newer members serve is left out":  {`[{"version":"v1"}]`, map[string]int{"v1beta1": 200}, "v1beta1"},
		"what is answered for the moment only is in": {`[{"version":"v1"},{"version":"v2"}]`, map[string]int{"v1": 503, "v2": 429}, "v1 v2"},
		"none at all": {`[{"version":"v1"}]`, nil, "v1"},
	} {
		mux := http.NewServeMux()
		mux.HandleFunc("GET "+migrationsPath, reply(200, `{"preferredVersion":{"version":"v1"},"versions":`+tc.listed+`}`))
		for version, code := range tc.codes {
			mux.HandleFunc("GET "+migrationsPath+"/"+version, reply(code, `{}`))
		}
		config, err := serve(t, mux)()
		if err != nil {
			t.Fatal(err)
		}
		client, err := NewClient("cp1", config, newMemory())
		if err != nil {
			t.Fatal(err)
		}
		if got, err := MigrationVersions(t.Context(), client); err != nil || strings.Join(got, " ") != tc.want {
			t.Errorf("%s: %v, %v, want %s", name, got, err, tc.want)
		}
	}
}
