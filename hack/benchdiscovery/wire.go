package main

import (
	"context"
	"net"
	"net/http"
	"sync/atomic"

	"k8s.io/client-go/rest"
)

// wire counts what one client sends and gets, below TLS: what it really costs
// on the network, handshake and headers included.
type wire struct{ requests, sent, received atomic.Int64 }

// attach returns a configuration of a client that is counted. Its connections
// are its own.
func (w *wire) attach(config *rest.Config) *rest.Config {
	config = rest.CopyConfig(config)
	config.Dial = func(ctx context.Context, network, address string) (net.Conn, error) {
		conn, err := (&net.Dialer{}).DialContext(ctx, network, address)
		if err != nil {
			return nil, err
		}
		return counted{Conn: conn, wire: w}, nil
	}
	config.Wrap(func(next http.RoundTripper) http.RoundTripper {
		return trip(func(r *http.Request) (*http.Response, error) {
			w.requests.Add(1)
			return next.RoundTrip(r)
		})
	})
	return config
}

type counted struct {
	net.Conn
	wire *wire
}

func (c counted) Read(p []byte) (int, error) {
	n, err := c.Conn.Read(p)
	c.wire.received.Add(int64(n))
	return n, err
}

func (c counted) Write(p []byte) (int, error) {
	n, err := c.Conn.Write(p)
	c.wire.sent.Add(int64(n))
	return n, err
}

type trip func(*http.Request) (*http.Response, error)

func (t trip) RoundTrip(r *http.Request) (*http.Response, error) { return t(r) }
