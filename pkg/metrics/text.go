package metrics

import (
	"bytes"
	"context"
	"fmt"
	"net/http"

	"github.com/prometheus/client_golang/prometheus/promhttp"
	"github.com/prometheus/common/expfmt"

	"github.com/evenkeel/evenkeel/pkg/bundle"
	"github.com/evenkeel/evenkeel/pkg/history"
	"github.com/evenkeel/evenkeel/pkg/report"
)

// Text gives the metrics as they are now, in Prometheus' text format.
func (m *Metrics) Text() ([]byte, error) {
	families, err := m.registry.Gather()
	if err != nil {
		return nil, fmt.Errorf("gather the metrics: %w", err)
	}
	var out bytes.Buffer
	encoder := expfmt.NewEncoder(&out, expfmt.NewFormat(expfmt.TypeTextPlain))
	for _, family := range families {
		if err := encoder.Encode(family); err != nil {
			return nil, fmt.Errorf("encode the metrics: %w", err)
		}
	}
	return out.Bytes(), nil
}

// Handler serves the metrics as they are at the time of each request.
func (m *Metrics) Handler() http.Handler {
	return promhttp.HandlerFor(m.registry, promhttp.HandlerOpts{})
}

// Bundle gives the metrics of a bundle, whose history gave the report, in the text
// format. The bundle is not changed; the same one gives the same bytes.
func Bundle(ctx context.Context, dir string, rep *report.ConformanceReport) ([]byte, error) {
	file, err := bundle.History(dir)
	if err != nil {
		return nil, fmt.Errorf("the metrics cannot be made: %w", err)
	}
	var m *Metrics
	err = history.Each(ctx, file, func(h history.Header) { m = New(h) }, func(ev *history.Event) { m.Take(ev) })
	if err != nil {
		return nil, fmt.Errorf("the metrics cannot be made: %w", err)
	}
	m.Judged(rep)
	return m.Text()
}
