package main

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"

	"k8s.io/client-go/rest"
)

// aggregatedJSON is what clients ask for: the aggregated document, as JSON.
const aggregatedJSON = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"

// client asks for the aggregated document of an API server over a connection of
// its own. It takes answers as they come from the wire.
type client struct {
	http *http.Client
	url  string
}

func newClient(config *rest.Config) (*client, error) {
	var own wire
	config = own.attach(config)
	// Otherwise answers would be decompressed on the way.
	config.DisableCompression = true
	config.Timeout = requestBound
	http, err := rest.HTTPClientFor(config)
	if err != nil {
		return nil, err
	}
	return &client{http: http, url: config.Host + "/apis"}, nil
}

func newClients(config *rest.Config, count int) ([]*client, error) {
	var clients []*client
	for range count {
		c, err := newClient(config)
		if err != nil {
			return nil, err
		}
		clients = append(clients, c)
	}
	return clients, nil
}

func closeAll(clients []*client) {
	for _, c := range clients {
		c.http.CloseIdleConnections()
	}
}

// ask sends one request. tag is sent if it is not empty.
func (c *client) ask(ctx context.Context, compressed bool, tag string) (*http.Response, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, c.url, nil)
	if err != nil {
		return nil, err
	}
	request.Header.Set("Accept", aggregatedJSON)
	if compressed {
		request.Header.Set("Accept-Encoding", "gzip")
	}
	if tag != "" {
		request.Header.Set("If-None-Match", tag)
	}
	return c.http.Do(request)
}

// page is an answer that was read.
type page struct {
	status int
	tag    string
	// encoding of the body.
	encoding string
	body     []byte
}

// read asks and takes the answer in whole.
func (c *client) read(ctx context.Context, compressed bool, tag string) (page, error) {
	response, err := c.ask(ctx, compressed, tag)
	if err != nil {
		return page{}, err
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	return page{response.StatusCode, response.Header.Get("Etag"), response.Header.Get("Content-Encoding"), body}, err
}

// content is the document without its compression.
func (p page) content() ([]byte, error) {
	if p.status != http.StatusOK {
		return nil, fmt.Errorf("the aggregated document was answered with status %d", p.status)
	}
	if p.encoding != "gzip" {
		return p.body, nil
	}
	reader, err := gzip.NewReader(bytes.NewReader(p.body))
	if err != nil {
		return nil, err
	}
	return io.ReadAll(reader)
}

// document decodes the aggregated document.
func (c *client) document(ctx context.Context, into any) error {
	answer, err := c.read(ctx, true, "")
	if err != nil {
		return err
	}
	content, err := answer.content()
	if err != nil {
		return err
	}
	return json.Unmarshal(content, into)
}
