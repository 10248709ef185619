package apiserver

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apiserver/pkg/registry/generic"

	"github.com/evenkeel/evenkeel/impl/defects"
	"github.com/evenkeel/evenkeel/impl/storageversion"
)

// customAfterwards is how long SV-24-announces-afterwards waits.
const customAfterwards = time.Second

// plantCustom changes how custom resources are stored.
func plantCustom(soundly customGetter, d defects.Set) generic.RESTOptionsGetter {
	if d.Has(defects.SV24AnnouncesAfterwards) || d.Has(defects.SV24AnnouncesOnce) {
		return soundly.RESTOptionsGetter // defect: SV-24-announces-afterwards, SV-24-announces-once
	}
	if d.Has(defects.SVM05Forgets) {
		soundly.RESTOptionsGetter = everyCodecGetter{soundly.RESTOptionsGetter, func(codec runtime.Codec) runtime.Codec { return forgetfulCodec{codec} }}
	}
	if d.Has(defects.SVM06Restless) {
		soundly.RESTOptionsGetter = everyCodecGetter{soundly.RESTOptionsGetter, func(codec runtime.Codec) runtime.Codec { return restlessCodec{codec, &atomic.Int64{}} }}
	}
	return soundly
}

// everyCodecGetter plants a defect in how all resources are encoded.
type everyCodecGetter struct {
	generic.RESTOptionsGetter
	plant func(runtime.Codec) runtime.Codec
}

// GetRESTOptions returns the options of a resource.
func (g everyCodecGetter) GetRESTOptions(resource schema.GroupResource, example runtime.Object) (generic.RESTOptions, error) {
	options, err := g.RESTOptionsGetter.GetRESTOptions(resource, example)
	if err != nil {
		return options, err
	}
	config := *options.StorageConfig
	config.Codec = g.plant(config.Codec)
	options.StorageConfig = &config
	return options, nil
}

// plantPublisher changes when the storage versions of custom resources are announced.
func plantPublisher(soundly publisher, d defects.Set) publisher {
	if d.Has(defects.SV24AnnouncesOnce) || d.Has(defects.SV24AnnouncesAfterwards) {
		return &plantedPublisher{publisher: soundly, defects: d, announced: map[schema.GroupResource]bool{}}
	}
	return soundly
}

type plantedPublisher struct {
	publisher
	defects defects.Set

	mu        sync.Mutex
	announced map[schema.GroupResource]bool
}

// Publish announces a resource some time later, or for the first time only.
func (p *plantedPublisher) Publish(ctx context.Context, resource storageversion.Resource) error {
	name := schema.GroupResource{Group: resource.Group, Resource: resource.Resource}
	p.mu.Lock()
	again := p.announced[name]
	p.announced[name] = true
	p.mu.Unlock()
	if again && p.defects.Has(defects.SV24AnnouncesOnce) {
		return nil // defect: SV-24-announces-once
	}
	if p.defects.Has(defects.SV24AnnouncesAfterwards) {
		pause(ctx, customAfterwards) // defect: SV-24-announces-afterwards
	}
	return p.publisher.Publish(ctx, resource)
}

// Withdraw takes an announcement back.
func (p *plantedPublisher) Withdraw(ctx context.Context, group, resource string) error {
	p.mu.Lock()
	delete(p.announced, schema.GroupResource{Group: group, Resource: resource})
	p.mu.Unlock()
	return p.publisher.Withdraw(ctx, group, resource)
}

// pause waits, for a planted defect.
func pause(ctx context.Context, d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
	}
}
