package apiserver

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"
)

// liveDelay is the shutdown delay of the test: long enough for a few requests on a
// machine that has much else to do.
const liveDelay = 8 * time.Second

// As kube-apiserver does: /readyz fails as soon as the server is asked to stop, and all
// else is served until the delay is over.
func TestShutdownDelayLive(t *testing.T) {
	if testing.Short() {
		t.Skip("it starts real servers, which takes some seconds")
	}
	live := newLive(t)
	server := live.start("s1", "1.3", func(o *Options) { o.ShutdownDelayDuration = liveDelay })
	server.waitReady()
	began := time.Now()
	stopped := make(chan struct{})
	go func() {
		defer close(stopped)
		server.stop()
	}()
	server.until("it is not ready", func() error {
		if response, body := server.ask("/readyz?verbose", "*/*"); response.StatusCode == http.StatusOK || !strings.Contains(body, "[-]shutdown") {
			return fmt.Errorf("it answers %s", response.Status)
		}
		return nil
	})
	const namespace = "/api/v1/namespaces/default/configmaps"
	server.create(namespace, `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"late"}}`)
	if got := server.get(namespace+"/late", "application/json"); !strings.Contains(got, `"late"`) {
		t.Errorf("read after the stop had begun: %s", got)
	}
	if took := time.Since(began); took >= liveDelay {
		t.Fatalf("the requests took %s, so they show nothing of the delay of %s", took, liveDelay)
	}
	<-stopped
	if took := time.Since(began); took < liveDelay {
		t.Errorf("it ended after %s, and has a delay of %s", took, liveDelay)
	}
	if response, err := server.client.Get(server.url + "/readyz"); err == nil {
		response.Body.Close()
		t.Errorf("it answers %s after its end", response.Status)
	}
}
