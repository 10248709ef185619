package apiserver

import (
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	genericapirequest "k8s.io/apiserver/pkg/endpoints/request"
	"k8s.io/client-go/kubernetes/fake"
	testingclock "k8s.io/utils/clock/testing"

	"github.com/evenkeel/evenkeel/impl/defects"
	"github.com/evenkeel/evenkeel/impl/release"
)

// Each process refuses what its defect says by what the process before has noted.
func TestPlantedWindow(t *testing.T) {
	old, err := release.Lookup("1.2")
	if err != nil {
		t.Fatal(err)
	}
	newer, err := release.Lookup("1.3")
	if err != nil {
		t.Fatal(err)
	}
	emulates := emulating(t, "1.3", "1.2")
	for _, test := range []struct {
		name        string
		defect      defects.ID
		before, now release.Release
		after       time.Duration
		refuses     bool
	}{
		{"the binary is back", defects.EV03RefusesBack, emulates, old, time.Hour, true},
		{"the binary is new", defects.EV03RefusesBack, old, emulates, time.Hour, false},
		{"the same again", defects.EV03RefusesBack, old, old, time.Hour, false},
		{"raised, and only back is refused", defects.EV03RefusesBack, emulates, newer, time.Hour, false},
		{"back for a moment", defects.EV03RefusesAtFirst, emulates, old, 12 * time.Second, true},
		{"back for longer", defects.EV03RefusesAtFirst, emulates, old, 14 * time.Second, false},
		{"raised", defects.EV04RefusesRaised, emulates, newer, time.Hour, true},
		{"lowered", defects.EV04RefusesRaised, newer, emulates, time.Hour, true},
		{"back, and only raised is refused", defects.EV04RefusesRaised, emulates, old, time.Hour, false},
		{"raised for a moment", defects.EV04RefusesAtFirst, emulates, newer, 12 * time.Second, true},
		{"raised for longer", defects.EV04RefusesAtFirst, emulates, newer, 14 * time.Second, false},
	} {
		t.Run(test.name, func(t *testing.T) {
			client, clk := fake.NewClientset(), testingclock.NewFakeClock(time.Unix(0, 0))
			earlier := &plantedWindow{now: test.before}
			earlier.note(t.Context(), client, "a")
			next := http.HandlerFunc(func(http.ResponseWriter, *http.Request) {})
			p := &plantedWindow{next: next, defects: defects.Of(test.defect), clock: clk, now: test.now}
			if err := p.read(t.Context(), client, "a"); err != nil {
				t.Fatal(err)
			}
			p.begin()
			clk.Step(test.after)
			for verb, refused := range map[string]bool{"update": test.refuses, "list": false} {
				r := httptest.NewRequestWithContext(t.Context(), http.MethodPut, "/", nil)
				r = r.WithContext(genericapirequest.WithRequestInfo(r.Context(), &genericapirequest.RequestInfo{
					IsResourceRequest: true, Verb: verb, APIGroup: release.Group, Resource: release.Ballasts,
				}))
				w := httptest.NewRecorder()
				p.ServeHTTP(w, r)
				if got := w.Code == http.StatusInternalServerError; got != refused {
					t.Errorf("%s is answered with %d", verb, w.Code)
				}
			}
		})
	}
}
