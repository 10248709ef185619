package apiserver

import (
	"context"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apiserver/pkg/authentication/user"
	"k8s.io/apiserver/pkg/authorization/authorizer"
)

// everything stands for any group or resource in a rule.
const everything = "*"

// rule allows verbs on a resource, and with status also on its status.
type rule struct {
	group, resource string
	namespace       string
	status          bool
	verbs           []string
}

// controllerManagerRules are what the controller manager needs: to be elected, with
// or without coordination (KEP-4355), and to leave marks of what it does as a leader,
// to collect what departed servers left behind (KEP-2339), and to migrate, which
// is to list and to update whatever is stored (KEP-25).
var controllerManagerRules = []rule{
	{"coordination.k8s.io", "leases", metav1.NamespaceSystem, false, []string{"get", "list", "watch", "create", "update", "delete"}},
	{"coordination.k8s.io", "leasecandidates", metav1.NamespaceSystem, false, []string{"get", "list", "watch", "create", "update", "delete"}},
	{"internal.apiserver.k8s.io", "storageversions", "", true, []string{"get", "list", "watch", "update", "delete"}},
	{"storagemigration.k8s.io", "storageversionmigrations", "", true, []string{"get", "list", "watch", "create", "update"}},
	{"apiextensions.k8s.io", "customresourcedefinitions", "", true, []string{"get", "list", "watch", "update"}},
	{"", "configmaps", metav1.NamespaceSystem, false, []string{"get", "list", "create", "update", "patch", "delete"}},
	{everything, everything, "", false, []string{"list", "update"}},
}

// selfReviews are the resources that every authenticated user may create.
var selfReviews = map[string]string{
	"selfsubjectaccessreviews": "authorization.k8s.io",
	"selfsubjectreviews":       "authentication.k8s.io",
}

// publicPaths are open to every client: load balancers have no certificate.
// authenticatedPaths tell what the server offers.
var (
	publicPaths        = []string{"/livez", "/readyz", "/healthz", "/version"}
	authenticatedPaths = []string{"/api", "/apis", "/openapi"}
)

// authorize allows what a rule allows, and has no opinion on anything else. The
// rules are fixed: roles are not what this server is there to show.
func authorize(_ context.Context, a authorizer.Attributes) (authorizer.Decision, string, error) {
	u := a.GetUser()
	if u == nil {
		return authorizer.DecisionNoOpinion, "", nil
	}
	if slices.Contains(u.GetGroups(), user.SystemPrivilegedGroup) {
		return authorizer.DecisionAllow, "", nil
	}
	authenticated := slices.Contains(u.GetGroups(), user.AllAuthenticated)
	allowed := false
	switch {
	case !a.IsResourceRequest():
		readOnly := a.GetVerb() == "get" || a.GetVerb() == "head"
		allowed = readOnly && (under(publicPaths, a.GetPath()) || authenticated && under(authenticatedPaths, a.GetPath()))
	case a.GetVerb() == "create" && authenticated && a.GetSubresource() == "" && a.GetAPIGroup() != "" && selfReviews[a.GetResource()] == a.GetAPIGroup():
		allowed = true
	case u.GetName() == user.KubeControllerManager:
		allowed = controllerManagerMay(a)
	}
	if allowed {
		return authorizer.DecisionAllow, "", nil
	}
	return authorizer.DecisionNoOpinion, "no rule allows it", nil
}

func controllerManagerMay(a authorizer.Attributes) bool {
	for _, rule := range controllerManagerRules {
		if rule.group != everything && (rule.group != a.GetAPIGroup() || rule.resource != a.GetResource()) || !slices.Contains(rule.verbs, a.GetVerb()) {
			continue
		}
		if rule.namespace != "" && rule.namespace != a.GetNamespace() {
			continue
		}
		if sub := a.GetSubresource(); sub == "" || sub == "status" && rule.status {
			return true
		}
	}
	return false
}

// under reports whether path is one of the roots or is below one.
func under(roots []string, path string) bool {
	for _, root := range roots {
		if path == root || strings.HasPrefix(path, root+"/") {
			return true
		}
	}
	return false
}
