package install

import rbacv1 "k8s.io/api/rbac/v1"

func may(group string, resources []string, verbs ...string) rbacv1.PolicyRule {
	return rbacv1.PolicyRule{APIGroups: []string{group}, Resources: resources, Verbs: verbs}
}

const (
	migrations = "storagemigration.k8s.io"
	internal   = "internal.apiserver.k8s.io"
	extensions = "apiextensions.k8s.io"
)

// controllerRules: the controller decides by what servers report, and gives
// migrations their outcome. It reads none of the objects that are migrated. If it creates
// migrations, owner is the ClusterRole that owns them.
func controllerRules(creates bool, owner string) []rbacv1.PolicyRule {
	follow := []string{"get", "list", "watch"}
	ask := follow
	var own []rbacv1.PolicyRule
	if creates {
		ask = append([]string{"create"}, follow...)
		reads := may("rbac.authorization.k8s.io", []string{"clusterroles"}, "get")
		reads.ResourceNames = []string{owner}
		// An owner that blocks its deletion until the migrations are gone is not set, so that
		// this takes no right to change the role.
		own = append(own, reads)
	}
	return append(own, []rbacv1.PolicyRule{
		may(internal, []string{"storageversions"}, follow...),
		may(migrations, []string{"storageversionmigrations"}, ask...),
		may(migrations, []string{"storageversionmigrations/status"}, "update"),
		may(extensions, []string{"customresourcedefinitions"}, follow...),
		may(extensions, []string{"customresourcedefinitions/status"}, "update"),
	}...)
}

// controllerNamespaceRules: Jobs, what is remembered, and the Lease of the leader.
func controllerNamespaceRules() []rbacv1.PolicyRule {
	return []rbacv1.PolicyRule{
		may("batch", []string{"jobs"}, "create", "delete", "list", "watch"),
		may("", []string{"configmaps"}, "create", "delete", "get", "list", "update"),
		may("coordination.k8s.io", []string{"leases"}, "create", "get", "update"),
	}
}

// workerRules: a worker lists and updates objects of any resource; which there are
// is not known beforehand. It can neither create nor delete any.
func workerRules() []rbacv1.PolicyRule {
	return []rbacv1.PolicyRule{
		may("*", []string{"*"}, "list", "update"),
		may(internal, []string{"storageversions"}, "get", "watch"),
		may(migrations, []string{"storageversionmigrations"}, "get", "watch"),
		may(extensions, []string{"customresourcedefinitions"}, "get"),
	}
}

// workerNamespaceRules: the checkpoint.
func workerNamespaceRules() []rbacv1.PolicyRule {
	return []rbacv1.PolicyRule{may("", []string{"configmaps"}, "get")}
}
