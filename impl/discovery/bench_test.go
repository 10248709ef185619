package discovery

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"testing"
)

// sink is a client that takes everything and keeps nothing.
type sink struct {
	header http.Header
	status int
	bytes  int
}

func (s *sink) Header() http.Header         { return s.header }
func (s *sink) WriteHeader(status int)      { s.status = status }
func (s *sink) Write(p []byte) (int, error) { s.bytes += len(p); return len(p), nil }

// BenchmarkAnswer is the server's share of answering a client, from the request
// to the bytes that go to the connection. wire-B is how many those are.
func BenchmarkAnswer(b *testing.B) {
	for _, crds := range []int{0, 300, 3000} {
		catalog := cluster(b, crds)
		handler := NewHandler(Local(catalog), Local(catalog), versions, http.NotFoundHandler())
		requests := []struct {
			name    string
			headers map[string]string
			status  int
		}{
			{"full", map[string]string{"Accept": as(testJSON, V2)}, http.StatusOK},
			{"gzip", map[string]string{"Accept": as(testJSON, V2), "Accept-Encoding": "gzip"}, http.StatusOK},
			{"protobuf-gzip", map[string]string{"Accept": as(testProtobuf, V2), "Accept-Encoding": "gzip"}, http.StatusOK},
			{"304", map[string]string{"Accept": as(testJSON, V2), "If-None-Match": catalog.Document().Tag()}, http.StatusNotModified},
			{"unaggregated-list-of-groups", map[string]string{"Accept": testJSON}, http.StatusOK},
		}
		for _, test := range requests {
			b.Run(fmt.Sprintf("crds=%d/%s", crds, test.name), func(b *testing.B) {
				request := httptest.NewRequest(http.MethodGet, "/apis", nil)
				for name, value := range test.headers {
					request.Header.Set(name, value)
				}
				var last sink
				b.ReportAllocs()
				for b.Loop() {
					last = sink{header: http.Header{}}
					handler.ServeHTTP(&last, request)
				}
				if last.status != test.status {
					b.Fatalf("status %d, want %d", last.status, test.status)
				}
				b.ReportMetric(float64(last.bytes), "wire-B")
			})
		}
	}
}

// BenchmarkChange is what one change costs: merging, hashing, and making the
// forms that clients asked for of the document before, here JSON with and
// without compression.
func BenchmarkChange(b *testing.B) {
	for _, crds := range []int{0, 300, 3000} {
		b.Run(fmt.Sprintf("crds=%d", crds), func(b *testing.B) {
			catalog := cluster(b, crds)
			form := Form{Version: V2, MediaType: testJSON}
			if _, err := catalog.Document().Bytes(form, true); err != nil {
				b.Fatal(err)
			}
			b.ReportAllocs()
			for i := 0; b.Loop(); i++ {
				catalog.Set(hosted(Custom, "changing.example.com", "v1", Priority{1000, 100}, fmt.Sprintf("things%d", i%2)))
				if err := catalog.Publish(); err != nil {
					b.Fatal(err)
				}
			}
			if catalog.Document().forms[form].gzipped.bytes == nil {
				b.Fatal("the compressed form was not made")
			}
		})
	}
}
