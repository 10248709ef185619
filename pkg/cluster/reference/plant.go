package reference

import (
	"fmt"
	"slices"

	"github.com/evenkeel/evenkeel/pkg/cluster"
)

// Plant sorts defects by the component that is to have them; known are those
// of the binary.
func Plant(known []cluster.Defect, ids []string) (map[cluster.Component][]string, error) {
	planted := map[cluster.Component][]string{}
	for _, id := range ids {
		at := slices.IndexFunc(known, func(defect cluster.Defect) bool { return defect.ID == id })
		if at < 0 {
			return nil, fmt.Errorf("there is no defect %q", id)
		}
		for _, host := range known[at].Hosts() {
			switch host {
			case cluster.APIServer, cluster.ControllerManager, cluster.Etcd, cluster.AggregatedServer:
				planted[host] = append(planted[host], id)
			default:
				// A defect that no process is started with would look like one
				// that no check can find.
				return nil, fmt.Errorf("the defect %s belongs to the component %q, which cannot be started with a defect", id, host)
			}
		}
	}
	return planted, nil
}
