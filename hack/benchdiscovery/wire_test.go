package main

import (
	"io"
	"net/http"
	"net/http/httptest"
	"testing"

	"k8s.io/client-go/rest"
)

func TestWire(t *testing.T) {
	const length = 100_000
	server := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = w.Write(make([]byte, length))
	}))
	defer server.Close()
	var w wire
	client, err := rest.HTTPClientFor(w.attach(&rest.Config{Host: server.URL, TLSClientConfig: rest.TLSClientConfig{Insecure: true}}))
	if err != nil {
		t.Fatal(err)
	}
	defer client.CloseIdleConnections()
	const requests = 3
	for range requests {
		response, err := client.Get(server.URL)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := io.Copy(io.Discard, response.Body); err != nil {
			t.Fatal(err)
		}
		response.Body.Close()
	}
	if got := w.requests.Load(); got != requests {
		t.Errorf("%d requests, want %d", got, requests)
	}
	// Encryption and headers come on top of the content, but not as much again.
	if got := w.received.Load(); got <= requests*length || got > 2*requests*length {
		t.Errorf("%d bytes received for %d of content", got, requests*length)
	}
	if got := w.sent.Load(); got == 0 || got > length {
		t.Errorf("%d bytes sent", got)
	}
}
