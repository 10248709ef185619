package apiserver

import (
	"context"
	"net/http"
	"slices"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	genericapirequest "k8s.io/apiserver/pkg/endpoints/request"
	genericapiserver "k8s.io/apiserver/pkg/server"
	"k8s.io/client-go/kubernetes"
	"k8s.io/utils/clock"

	"github.com/evenkeel/evenkeel/impl/defects"
	"github.com/evenkeel/evenkeel/impl/release"
)

// noteInterval is how long a planted defect waits before it tries again to note what runs.
const noteInterval = time.Second

// plantedWindow has the defects of a server that follows on one of another binary, or of the
// same binary that behaved otherwise. Each process notes what it plays, for the next one.
type plantedWindow struct {
	next    http.Handler
	defects defects.Set
	clock   clock.Clock
	now     release.Release

	mu sync.Mutex
	// before is what the process before played, and registered since when this one has
	// registered its storage versions.
	before     played
	registered time.Time
}

// played is what a process played, as it notes it.
type played struct{ binary, behaves string }

func playedBy(r release.Release) played { return played{r.Name, r.Behaves()} }

// plantWindow puts the planted defects in front of a server; without any it changes nothing.
func (s *server) plantWindow() error {
	d := s.options.Defects
	if !slices.ContainsFunc(windowDefects, d.Has) {
		return nil
	}
	p := &plantedWindow{next: s.inner, defects: d, clock: clock.RealClock{}, now: s.options.Release}
	s.inner = p
	return s.aggregator.GenericAPIServer.AddPostStartHook("planted-window", func(hook genericapiserver.PostStartHookContext) error {
		if err := p.read(hook, s.client, s.options.ServerID); err != nil {
			return err
		}
		go func() {
			if s.versions.WaitRegistered(hook) == nil {
				p.begin()
				p.note(hook, s.client, s.options.ServerID)
			}
		}()
		return nil
	})
}

// windowDefects are those that a plantedWindow has.
var windowDefects = []defects.ID{defects.EV03RefusesBack, defects.EV03RefusesAtFirst, defects.EV04RefusesRaised, defects.EV04RefusesAtFirst}

// read finds what the process before has noted.
func (p *plantedWindow) read(ctx context.Context, client kubernetes.Interface, server string) error {
	note, err := client.CoreV1().ConfigMaps(metav1.NamespaceSystem).Get(ctx, server, metav1.GetOptions{})
	if err != nil && !apierrors.IsNotFound(err) {
		return err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.before = playedBy(p.now)
	if err == nil {
		p.before = played{note.Data["binary"], note.Data["behaves"]}
	}
	return nil
}

// begin starts the time for which writes are refused at first.
func (p *plantedWindow) begin() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.registered = p.clock.Now()
}

// note keeps for the next process what this one plays.
func (p *plantedWindow) note(ctx context.Context, client kubernetes.Interface, server string) {
	now := playedBy(p.now)
	note := &corev1.ConfigMap{
		ObjectMeta: metav1.ObjectMeta{Name: server, Namespace: metav1.NamespaceSystem},
		Data:       map[string]string{"binary": now.binary, "behaves": now.behaves},
	}
	maps := client.CoreV1().ConfigMaps(metav1.NamespaceSystem)
	for ctx.Err() == nil {
		_, err := maps.Update(ctx, note, metav1.UpdateOptions{})
		if apierrors.IsNotFound(err) {
			_, err = maps.Create(ctx, note, metav1.CreateOptions{})
		}
		if err == nil {
			return
		}
		pause(ctx, noteInterval)
	}
}

// ServeHTTP refuses what a planted defect does not take.
func (p *plantedWindow) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	info, _ := genericapirequest.RequestInfoFrom(r.Context())
	if info != nil && info.IsResourceRequest && info.APIGroup == release.Group && info.Resource == release.Ballasts &&
		!slices.Contains([]string{"get", "list", "watch"}, info.Verb) && p.refuses() {
		http.Error(w, "planted: the object may be of another release", http.StatusInternalServerError)
		return
	}
	p.next.ServeHTTP(w, r)
}

// refuses is whether writes of ballasts are refused now.
func (p *plantedWindow) refuses() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	now, for3, for4 := playedBy(p.now), p.defects.Delay(defects.EV03RefusesAtFirst), p.defects.Delay(defects.EV04RefusesAtFirst)
	names := release.Names()
	if p.registered.IsZero() {
		return false // the barrier refuses writes until then
	}
	switch back := slices.Index(names, now.binary) < slices.Index(names, p.before.binary); {
	case back && now.behaves == p.before.behaves:
		return p.defects.Has(defects.EV03RefusesBack) || p.young(for3) // defect: EV-03-refuses-when-back, EV-03-refuses-at-first
	case now.binary == p.before.binary && now.behaves != p.before.behaves:
		return p.defects.Has(defects.EV04RefusesRaised) || p.young(for4) // defect: EV-04-refuses-when-raised, EV-04-refuses-at-first
	}
	return false
}

// young is whether the server has registered less than a time ago.
func (p *plantedWindow) young(long time.Duration) bool { return p.clock.Since(p.registered) < long }
