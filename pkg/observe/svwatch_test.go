package observe

import (
	"context"
	"fmt"
	"net/http"
	"testing"

	"k8s.io/utils/clock"

	"github.com/evenkeel/evenkeel/pkg/history"
)

func TestWatchShowsWhatTheServerShows(t *testing.T) {
	waited := make(chan struct{})
	mux := http.NewServeMux()
	mux.HandleFunc("GET "+storageVersionsPath, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Query().Get("watch") == "" {
			reply(200, `{"metadata":{"resourceVersion":"9"},"items":[`+twoServers+`]}`)(w, r)
			return
		}
		if r.URL.Query().Get("resourceVersion") != "9" {
			t.Errorf("the watch begins at %s", r.URL)
		}
		fmt.Fprintf(w, `{"type":"MODIFIED","object":{"metadata":{"name":"core.pods","resourceVersion":"11"}}}`+"\n")
		fmt.Fprintf(w, `{"type":"BOOKMARK","object":{"metadata":{"resourceVersion":"12"}}}`+"\n")
		w.(http.Flusher).Flush()
		<-waited
		fmt.Fprintf(w, `{"type":"ERROR","object":{"kind":"Status","code":410,"message":"too old"}}`+"\n")
	})
	m := newMemory()
	watch := NewStorageVersionWatch("cp1", serve(t, mux), m, clock.RealClock{})
	ctx, cancel := context.WithCancel(t.Context())
	running := make(chan struct{})
	go func() {
		defer close(running)
		watch.Run(ctx)
	}()
	if err := watch.WaitFor(ctx, 11); err != nil {
		t.Error(err)
	}
	close(waited)
	m.until(t, func(e history.Event) bool { return e.Watch.Type == history.WatchBroken })
	cancel()
	<-running
	if err := watch.WaitFor(ctx, 12); err == nil {
		t.Error("a watch showed what the server never sent")
	}
	var types []string
	for _, e := range m.of(history.KindWatch)[:4] {
		types = append(types, fmt.Sprintf("%s %s %d", e.Watch.Type, e.Watch.Name, e.Watch.ResourceVersion))
	}
	if want := "[OPENED  9 ADDED core.pods 7 MODIFIED core.pods 11 BROKEN  0]"; fmt.Sprint(types) != want {
		t.Errorf("recorded %v, want %s", types, want)
	}
}
