//go:build linux

package agent

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"time"

	"github.com/evenkeel/evenkeel/pkg/cluster"
	"github.com/evenkeel/evenkeel/pkg/leak"
)

// LogChunk is a piece of a component's log: whole lines, with credentials masked.
type LogChunk struct {
	// Last is when the last line was written, by the node's clock.
	Last time.Time `json:"last"`
	Text string    `json:"text"`
}

// streamLog gives what a component writes after a time, until the client goes.
func (a *agent) streamLog(w http.ResponseWriter, r *http.Request, folder string, masker *leak.Masker) {
	of, err := a.component(cluster.Component(r.URL.Query().Get("component")))
	if err != nil {
		answer(w, nil, err)
		return
	}
	after, err := time.Parse(time.RFC3339Nano, r.URL.Query().Get("after"))
	if err != nil {
		http.Error(w, fmt.Sprintf("after is no time: %v", err), http.StatusBadRequest)
		return
	}
	ctx, cancel := context.WithCancel(r.Context())
	defer cancel()
	lines, control := json.NewEncoder(w), http.NewResponseController(w)
	_ = control.Flush() // the client learns that the stream has begun
	take := func(text string, last time.Time) {
		if lines.Encode(LogChunk{Last: last, Text: masker.Mask(text)}) != nil || control.Flush() != nil {
			cancel()
		}
	}
	keeper := &logKeeper{
		from: folder, node: a.Member, config: Config{Components: []Component{of}}, known: map[string]os.FileInfo{},
		kept: map[cluster.Component]*keptLog{of.Name: {before: after, take: take}},
	}
	keeper.run(ctx)
}

// Logs tells what a component writes after a time, until the context ends or the agent is
// gone.
func (c *Client) Logs(ctx context.Context, component cluster.Component, after time.Time, tell func(LogChunk)) error {
	query := url.Values{"component": {string(component)}, "after": {after.UTC().Format(time.RFC3339Nano)}}
	body, err := c.do(ctx, http.MethodGet, pathLogs, query, nil)
	if err != nil {
		return err
	}
	defer body.Close()
	lines := json.NewDecoder(bufio.NewReader(body))
	for {
		var chunk LogChunk
		if err := lines.Decode(&chunk); err != nil {
			return fmt.Errorf("the log of the %s of %s has ended: %w", component, c.member, err)
		}
		tell(chunk)
	}
}
