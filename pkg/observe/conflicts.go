package observe

import (
	"bytes"
	"context"
	"fmt"
	"strconv"
	"strings"

	"github.com/evenkeel/evenkeel/pkg/history"
)

// conflictCounter begins the lines of the counter of answered requests, which
// every API server built on the Kubernetes libraries has.
const conflictCounter = "apiserver_request_total{"

// Conflicts is how many writes of a resource the server has answered with 409
// since it was started, by its own metrics. Writes that a server sends to itself
// are among them.
func (c *Client) Conflicts(ctx context.Context, resource string) (int64, error) {
	answer := c.Get(ctx, history.MetricsPath)
	switch {
	case answer.Err != nil:
		return 0, fmt.Errorf("read the metrics of %s: %w", c.member, answer.Err)
	case !answer.OK():
		return 0, fmt.Errorf("read the metrics of %s: it answered %d %s", c.member, answer.Code, answer.Message)
	}
	return conflicts(answer.Body, resource), nil
}

func conflicts(text []byte, resource string) int64 {
	var total int64
	for line := range bytes.Lines(text) {
		labels, ok := strings.CutPrefix(string(line), conflictCounter)
		if !ok || !strings.Contains(labels, `code="409"`) || !strings.Contains(labels, `,resource="`+resource+`"`) {
			continue
		}
		_, value, _ := strings.Cut(strings.TrimSpace(labels), "} ")
		if count, err := strconv.ParseFloat(value, 64); err == nil {
			total += int64(count)
		}
	}
	return total
}
