package main

import (
	"context"
	"crypto/tls"
	"fmt"
	"io"
	"net"
	"net/http"
	"sync"
	"time"
)

// serve balances one configuration until the context ends. Connections that
// were made by then go on: a new list of backends is no reason to end them.
func serve(ctx context.Context, c config, listener net.Listener, log func(string)) {
	members := newPool(c.backends)
	var working sync.WaitGroup
	if c.check.path != "" {
		for _, backend := range c.backends {
			working.Go(func() { watch(ctx, c.check, members, backend, log) })
		}
	}
	stop := context.AfterFunc(ctx, func() { listener.Close() })
	defer stop()
	for {
		client, err := listener.Accept()
		if err != nil {
			break
		}
		go forward(ctx, c, members, client, log)
	}
	working.Wait()
}

// watch checks a backend at once and then at the interval.
func watch(ctx context.Context, rule check, members *pool, backend string, log func(string)) {
	client := &http.Client{
		Timeout: rule.timeout,
		// As the balancer that the files are made for: what counts is whether it
		// answers, not who it is. A connection of its own each time, because a
		// new one is what the next client needs.
		//nolint:gosec // G402: the answer counts, and not the server's identity, as said above.
		Transport: &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}, DisableKeepAlives: true},
	}
	ticks := time.NewTicker(rule.interval)
	defer ticks.Stop()
	for {
		ok := answers(ctx, client, "https://"+backend+rule.path)
		if ctx.Err() != nil {
			return
		}
		if members.observe(backend, ok, rule) {
			log(fmt.Sprintf("%s healthy: %v", backend, ok))
		}
		select {
		case <-ctx.Done():
			return
		case <-ticks.C:
		}
	}
}

func answers(ctx context.Context, client *http.Client, url string) bool {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return false
	}
	response, err := client.Do(request)
	if err != nil {
		return false
	}
	response.Body.Close()
	return response.StatusCode == http.StatusOK
}

// forward carries one connection to the first backend that takes it.
func forward(ctx context.Context, c config, members *pool, client net.Conn, log func(string)) {
	defer client.Close()
	dialer := net.Dialer{Timeout: c.connectTimeout}
	for _, backend := range members.turn() {
		server, err := dialer.DialContext(ctx, "tcp", backend)
		if err != nil {
			continue
		}
		defer server.Close()
		carry(client, server)
		return
	}
	log(fmt.Sprintf("no backend takes a connection of %s", client.RemoteAddr()))
}

// carry copies both ways until both have ended; the end of one way is passed on
// alone, as TCP does.
func carry(client, server net.Conn) {
	var both sync.WaitGroup
	for _, way := range [][2]net.Conn{{client, server}, {server, client}} {
		both.Go(func() {
			// An error ends the way as its end does: TCP has no way to pass it on.
			_, err := io.Copy(way[1], way[0])
			if half, ok := way[1].(*net.TCPConn); ok && err == nil {
				_ = half.CloseWrite() // the other side may have gone
				return
			}
			client.Close()
			server.Close()
		})
	}
	both.Wait()
}
