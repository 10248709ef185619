package observe

import "testing"

func TestCounted(t *testing.T) {
	const text = `# HELP apiserver_request_total [STABLE] Counter
apiserver_request_total{code="200",component="",dry_run="",group="internal.apiserver.k8s.io",resource="storageversions",scope="resource",subresource="status",verb="PUT",version="v1alpha1"} 31
apiserver_request_total{code="409",component="",dry_run="",group="internal.apiserver.k8s.io",resource="storageversions",scope="resource",subresource="",verb="POST",version="v1alpha1"} 1
apiserver_request_total{code="409",component="",dry_run="",group="internal.apiserver.k8s.io",resource="storageversions",scope="resource",subresource="status",verb="PUT",version="v1alpha1"} 4
apiserver_request_total{code="409",component="",dry_run="",group="",resource="configmaps",scope="resource",subresource="",verb="PUT",version="v1"} 9
other_total{code="409",resource="storageversions"} 7
`
	if got := Counted([]byte(text), requestCounter, map[string]string{"code": "409", "resource": "storageversions"}); got != 5 {
		t.Errorf("counted %d, want 5", got)
	}
}
