package observe

import (
	"context"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/iotest"
	"testing/synctest"

	"k8s.io/client-go/rest"
)

// roundTrips answers requests without a connection.
type roundTrips func(*http.Request) (*http.Response, error)

func (f roundTrips) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// What a client could not do with answers is told apart from answers that did not come.
func TestDiscover_CountsWhatDidNotCome(t *testing.T) {
	body := func(text string) roundTrips {
		return func(r *http.Request) (*http.Response, error) {
			return &http.Response{StatusCode: http.StatusOK, Header: http.Header{"Content-Type": {"application/json"}}, Body: io.NopCloser(strings.NewReader(text)), Request: r}, nil
		}
	}
	for name, c := range map[string]struct {
		answers roundTrips
		refused bool
	}{
		"what is no JSON":     {body("{"), false},
		"a server that hangs": {func(r *http.Request) (*http.Response, error) { <-r.Context().Done(); return nil, r.Context().Err() }, true},
		"a connection that breaks": {func(r *http.Request) (*http.Response, error) {
			return &http.Response{StatusCode: http.StatusOK, Header: http.Header{"Content-Type": {"application/json"}}, Body: io.NopCloser(iotest.ErrReader(io.ErrUnexpectedEOF)), Request: r}, nil
		}, true},
		"a body that hangs": {func(r *http.Request) (*http.Response, error) {
			return &http.Response{StatusCode: http.StatusOK, Header: http.Header{"Content-Type": {"application/json"}}, Body: hangingBody{r.Context()}, Request: r}, nil
		}, true},
	} {
		synctest.Test(t, func(t *testing.T) {
			d := &Documents{member: "cp1", recorder: newMemory(), config: func() (*rest.Config, error) { return &rest.Config{Host: "http://cp1.example"}, nil }}
			ev := d.discover(t.Context(), &Client{http: &http.Client{Transport: c.answers}}, true)
			seen := ev.DiscoveryDocument
			if seen.Error == "" || seen.Code != 0 || seen.Client == nil || !seen.Client.Legacy || seen.Client.Requests == 0 || (seen.Client.Refused > 0) != c.refused {
				t.Errorf("%s: %+v, client %+v", name, seen, seen.Client)
			}
		})
	}
}

type hangingBody struct{ context.Context }

func (b hangingBody) Read([]byte) (int, error) {
	<-b.Done()
	return 0, context.Cause(b)
}

func (b hangingBody) Close() error { return nil }
