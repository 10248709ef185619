package stories

import (
	"fmt"
	"strings"
	"time"

	"github.com/evenkeel/evenkeel/pkg/history"
	"github.com/evenkeel/evenkeel/pkg/story"
)

const (
	// tackleGroup has a resource that an aggregated server hosts and stores, and
	// tackleServer is its identity.
	tackleGroup  = "tackle.evenkeel.dev"
	tackleServer = "aggregated-apiserver-cp1"
)

// tackle is what API servers say of the resource.
var tackle = history.HostedResource{Group: tackleGroup, Resource: "tackles", Kind: "Tackle", Served: []string{tackleGroup + "/v1", tackleGroup + "/v1beta1"}, Aggregated: true}

func block(i int) object {
	return object{tackleGroup, tackle.Resource, tackle.Kind, fmt.Sprintf("default/block%d", i)}
}

// aggregatedStory is a run in which a resource of an aggregated server is migrated, while its
// APIService is away for a time.
func aggregatedStory() []history.Event {
	v := newBuilder()
	cp1 := v.Members[0]
	v.hostTackle(8)
	v.announceTackle("v1")
	v.create(cp1, "tackle", tackleGroup, tackle.Resource)
	v.begin("tackle")
	for i := range 4 {
		v.rewrite(block(i), tackleGroup+"/v1")
	}
	v.proxyTackle(cp1, "delete")
	v.Advance(5000)
	v.setCondition("tackle", false, "", history.MigrationRunning, "There is no progress, trying again")
	v.Advance(5000)
	v.proxyTackle(cp1, "create", "v1")
	for i := 4; i < 8; i++ {
		v.rewrite(block(i), tackleGroup+"/v1")
	}
	v.Advance(6000) // longer than a success may be on its way
	v.end("tackle", history.MigrationSucceeded)
	v.Advance(3000)
	v.Emit(history.Event{Kind: history.KindEnd, End: &history.End{Complete: true}})
	return v.Events
}

// hostTackle has an aggregated server join and store some objects, to which API servers proxy
// its group.
func (v *builder) hostTackle(objects int) {
	v.Store("/registry/leases/kube-system/"+tackleServer, "coordination.k8s.io/v1", "Lease", "kube-system/"+tackleServer, history.Stored{
		Lease: &history.Lease{Holder: tackleServer + "_1", Duration: 3600, Renewed: story.Epoch.Add(time.Duration(v.Now)), Identity: true},
	})
	v.announceTackle("v1beta1")
	v.proxyTackle(v.Members[0], "create", "v1")
	for i := range objects {
		v.Advance(20)
		v.metadata[block(i).name] = block(i).name
		v.Store(block(i).key(), tackleGroup+"/v1beta1", tackle.Kind, block(i).name, history.Stored{Metadata: block(i).name, Content: block(i).content("v1beta1")})
	}
	for _, m := range v.Members {
		v.Emit(history.Event{Kind: history.KindHostedResources, Member: m.Name, From: v.Now, HostedResources: &history.HostedResources{
			Revision: v.Revision, Resources: []history.HostedResource{ballastsResource, tackle},
		}})
	}
}

// aggregatedHeader says that the harness writes the resource.
func aggregatedHeader() history.Header {
	h := story.NewHeader()
	h.Writes = append(h.Writes, history.WrittenResource{Group: tackleGroup, Resource: tackle.Resource, Kind: tackle.Kind})
	return h
}

// announceTackle has the aggregated server say in which version it stores the resource.
func (v *builder) announceTackle(version string) {
	encoding := tackleGroup + "/" + version
	v.Store("/registry/storageversions/"+tackleGroup+"."+tackle.Resource, "internal.apiserver.k8s.io/v1alpha1", "StorageVersion", tackleGroup+"."+tackle.Resource, history.Stored{
		StorageVersion: &history.StorageVersion{
			Common:     &encoding,
			Entries:    []history.Entry{{ServerID: tackleServer, Encoding: encoding, Decodable: tackle.Served, Served: tackle.Served}},
			Conditions: []history.Condition{story.AgreementCondition(&encoding, story.Epoch)},
		},
	})
}

// proxyTackle has the harness create or delete the APIService.
func (v *builder) proxyTackle(m *story.Member, verb string, versions ...string) {
	v.Request(m, history.Request{
		Class: history.ClassGuarded, Verb: verb, Group: "apiregistration.k8s.io", Version: "v1", Resource: "apiservices", Name: "v1." + tackleGroup, Code: 200,
		Defines: &history.Definition{Remote: true, Group: tackleGroup, Versions: versions},
	})
}

// tackleProxied are the requests for the APIService, tackleObjects the changes of objects,
// and tackleListed what members say.
var (
	tackleObjects = func(ev *history.Event) bool {
		return ev.Stored != nil && strings.HasPrefix(ev.Stored.Key, "/registry/"+tackleGroup+"/")
	}
	tackleProxied = func(ev *history.Event) bool {
		return ev.Request != nil && ev.Request.Defines != nil && ev.Request.Defines.Group == tackleGroup
	}
	tackleListed = story.OfKind(history.KindHostedResources)
)

// aggregatedCases are how that story is changed.
var aggregatedCases = []story.Case{
	{
		Requirement: "SVM-32", Reads: story.AnyOf(migrations, story.StorageVersionWrites, tackleObjects, tackleProxied, tackleListed, story.Lifecycle),
		Fail: func(e *story.Edit) {
			// It fails while the APIService is away.
			i := e.Find(1, story.AllOf(migrationNamed("tackle"), waiting))
			failed := *e.Events[i].Stored
			now := *failed.Migration
			now.Conditions = append(now.Conditions[:1:1], history.Condition{
				Type: history.MigrationFailed, Status: "True", Transition: now.Conditions[0].Transition, Reason: "ResourceNotFound", Message: "No server offers it.",
			})
			failed.Migration = &now
			e.Drop(story.AllOf(migrationNamed("tackle"), e.After(func(ev *history.Event) bool { return ev.Stored != nil && ev.Stored.Revision == failed.Revision })))
			*e.Events[i].Stored = failed
		},
		Weak: func(e *story.Edit) { e.Drop(tackleProxied) },
	},
}
