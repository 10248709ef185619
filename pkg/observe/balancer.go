package observe

import (
	"context"
	"errors"
	"net/http"
	"net/url"

	"k8s.io/client-go/rest"
	"k8s.io/utils/clock"

	"github.com/evenkeel/evenkeel/pkg/history"
)

// balancerPath is an object that every control plane has, and for which the API
// server must ask its etcd.
const balancerPath = "/api/v1/namespaces/default"

// Balancer reads through a load balancer all the time, as a client would that
// knows of no members, and records every answer.
type Balancer struct {
	config   *rest.Config
	recorder Recorder
	clock    clock.WithTicker
}

// NewBalancer makes a recorder for the load balancer that the configuration
// leads to.
func NewBalancer(config *rest.Config, recorder Recorder, clk clock.WithTicker) *Balancer {
	return &Balancer{config: config, recorder: recorder, clock: clk}
}

// Run reads until the context ends.
func (b *Balancer) Run(ctx context.Context) {
	secured, err := rest.TLSConfigFor(b.config)
	if err != nil {
		b.missed(err)
		return
	}
	// Over a new connection each time: one that is kept would stay with a member.
	authorized, err := rest.HTTPWrappersForConfig(b.config, &http.Transport{TLSClientConfig: secured, Proxy: b.config.Proxy, DisableKeepAlives: true})
	if err != nil {
		b.missed(err)
		return
	}
	client := &http.Client{Transport: authorized}
	for ctx.Err() == nil {
		b.ask(ctx, client)
		pause(ctx, b.clock, BalancerInterval)
	}
}

func (b *Balancer) missed(err error) {
	b.recorder.Record(history.Event{Kind: history.KindRecorderMissed, RecorderMissed: &history.RecorderMissed{Source: history.SourceLoadBalancer, Message: err.Error()}})
}

func (b *Balancer) ask(ctx context.Context, client *http.Client) {
	bounded, cancel := context.WithTimeout(ctx, BalancerTimeout)
	defer cancel()
	from := b.recorder.Now()
	seen := history.LoadBalancer{}
	request, err := http.NewRequestWithContext(bounded, http.MethodGet, b.config.Host+balancerPath, nil)
	if err == nil {
		var answer *http.Response
		if answer, err = client.Do(request); err == nil {
			seen.Code = answer.StatusCode
			err = answer.Body.Close()
		}
	}
	if ctx.Err() != nil {
		return // the run is ending, and the error says nothing about the load balancer
	}
	if err != nil {
		var wrapped *url.Error
		if errors.As(err, &wrapped) {
			err = wrapped.Err
		}
		seen.Error = err.Error()
	}
	b.recorder.Record(history.Event{Kind: history.KindLoadBalancer, From: from, LoadBalancer: &seen})
}
