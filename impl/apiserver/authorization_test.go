package apiserver

import (
	"testing"

	"k8s.io/apiserver/pkg/authentication/user"
	"k8s.io/apiserver/pkg/authorization/authorizer"
)

func TestAuthorize(t *testing.T) {
	var (
		admin     = &user.DefaultInfo{Name: "admin", Groups: []string{user.SystemPrivilegedGroup, user.AllAuthenticated}}
		manager   = &user.DefaultInfo{Name: user.KubeControllerManager, Groups: []string{user.AllAuthenticated}}
		joe       = &user.DefaultInfo{Name: "joe", Groups: []string{user.AllAuthenticated}}
		anonymous = &user.DefaultInfo{Name: user.Anonymous, Groups: []string{user.AllUnauthenticated}}
	)
	resource := func(verb, group, resource, subresource, namespace string) authorizer.AttributesRecord {
		return authorizer.AttributesRecord{ResourceRequest: true, Verb: verb, APIGroup: group, Resource: resource, Subresource: subresource, Namespace: namespace}
	}
	path := func(path string) authorizer.AttributesRecord {
		return authorizer.AttributesRecord{Verb: "get", Path: path}
	}
	tests := []struct {
		name       string
		user       user.Info
		attributes authorizer.AttributesRecord
		want       bool
	}{
		{"admin may all", admin, resource("delete", "", "secrets", "", "x"), true},
		{"manager updates its lease", manager, resource("update", "coordination.k8s.io", "leases", "", "kube-system"), true},
		{"manager deletes no leases of others", manager, resource("delete", "coordination.k8s.io", "leases", "", "default"), false},
		{"manager lists what it migrates", manager, resource("list", "", "secrets", "", ""), true},
		{"manager migrates", manager, resource("update", "example.com", "widgets", "", "default"), true},
		{"manager migrates no status", manager, resource("update", "example.com", "widgets", "status", "default"), false},
		{"manager trims stored versions", manager, resource("update", "apiextensions.k8s.io", "customresourcedefinitions", "status", ""), true},
		{"manager deletes nothing that it migrates", manager, resource("delete", "", "configmaps", "", "default"), false},
		{"manager writes storage version status", manager, resource("update", "internal.apiserver.k8s.io", "storageversions", "status", ""), true},
		{"manager deletes storage versions", manager, resource("delete", "internal.apiserver.k8s.io", "storageversions", "", ""), true},
		{"manager creates no storage versions", manager, resource("create", "internal.apiserver.k8s.io", "storageversions", "", ""), false},
		{"manager reads no secrets", manager, resource("get", "", "secrets", "", "kube-system"), false},
		{"a user asks about itself", joe, resource("create", "authorization.k8s.io", "selfsubjectaccessreviews", "", ""), true},
		{"a user does not ask about others", joe, resource("create", "authorization.k8s.io", "subjectaccessreviews", "", ""), false},
		{"a namesake elsewhere is not a review", joe, resource("create", "example.com", "selfsubjectreviews", "", ""), false},
		{"an unlisted resource of the core group is not a review", joe, resource("create", "", "configmaps", "", "x"), false},
		{"authenticated discovery", joe, path("/apis/apps/v1"), true},
		{"a path that only begins alike", joe, path("/apisix"), false},
		{"metrics are not public", joe, path("/metrics"), false},
		{"anonymous health", anonymous, path("/livez/etcd"), true},
		{"anonymous discovery", anonymous, path("/apis"), false},
		{"anonymous review", anonymous, resource("create", "authorization.k8s.io", "selfsubjectaccessreviews", "", ""), false},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			test.attributes.User = test.user
			decision, _, err := authorize(t.Context(), test.attributes)
			if err != nil {
				t.Fatal(err)
			}
			if got := decision == authorizer.DecisionAllow; got != test.want {
				t.Errorf("allowed: got %v, want %v", got, test.want)
			}
		})
	}
}
