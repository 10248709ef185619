package apiserver

import (
	"context"
	"sync"

	"k8s.io/apimachinery/pkg/runtime/schema"
)

// customDoors let writes of custom resources in, and shut them out while the
// version in which a resource is stored is being replaced: the last write in
// the old version must have ended before the new one is announced, or else it
// could reach etcd unannounced.
type customDoors struct {
	mu    sync.Mutex
	doors map[schema.GroupResource]*customDoor
}

type customDoor struct {
	inside int
	// opened is closed when the door opens; nil while it is open.
	opened chan struct{}
	// emptied is closed when the last write leaves; nil while no call of shut waits.
	emptied chan struct{}
}

func newCustomDoors() *customDoors {
	return &customDoors{doors: map[schema.GroupResource]*customDoor{}}
}

func (d *customDoors) door(resource schema.GroupResource) *customDoor {
	door, ok := d.doors[resource]
	if !ok {
		door = &customDoor{}
		d.doors[resource] = door
	}
	return door
}

// enter waits until the door is open and enters, or fails with the context.
// After it has entered, the caller must call leave.
func (d *customDoors) enter(ctx context.Context, resource schema.GroupResource) (leave func(), err error) {
	for {
		d.mu.Lock()
		door := d.door(resource)
		opened := door.opened
		if opened == nil {
			door.inside++
			d.mu.Unlock()
			return func() { d.leave(resource, door) }, nil
		}
		d.mu.Unlock()
		select {
		case <-opened:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

func (d *customDoors) leave(resource schema.GroupResource, door *customDoor) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if door.inside--; door.inside == 0 && door.emptied != nil {
		close(door.emptied)
		door.emptied = nil
	}
	d.tidyLocked(resource, door)
}

// tidyLocked forgets a door that is open and has no write inside: it is as a new one.
func (d *customDoors) tidyLocked(resource schema.GroupResource, door *customDoor) {
	if door.inside == 0 && door.opened == nil {
		delete(d.doors, resource)
	}
}

// shut lets no more writes enter and waits until all writes have left, or fails
// with the context. The door stays shut in either case, until open.
func (d *customDoors) shut(ctx context.Context, resource schema.GroupResource) error {
	d.mu.Lock()
	door := d.door(resource)
	if door.opened == nil {
		door.opened = make(chan struct{})
	}
	if door.inside == 0 {
		d.mu.Unlock()
		return nil
	}
	if door.emptied == nil {
		door.emptied = make(chan struct{})
	}
	emptied := door.emptied
	d.mu.Unlock()
	select {
	case <-emptied:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// open lets writes enter again.
func (d *customDoors) open(resource schema.GroupResource) {
	d.mu.Lock()
	defer d.mu.Unlock()
	door := d.door(resource)
	if door.opened != nil {
		close(door.opened)
		door.opened = nil
	}
	d.tidyLocked(resource, door)
}
