package install

import (
	"context"
	"fmt"
	"io"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/yaml"

	"github.com/evenkeel/evenkeel/impl/migration"
	"github.com/evenkeel/evenkeel/impl/migration/workload"
)

// resources are the plural names of the kinds that are installed.
var resources = map[string]string{
	"Namespace": "namespaces", "ServiceAccount": "serviceaccounts", "Deployment": "deployments",
	"ClusterRole": "clusterroles", "ClusterRoleBinding": "clusterrolebindings", "Role": "roles", "RoleBinding": "rolebindings",
}

// YAML writes objects as a stream of documents for kubectl.
func YAML(out io.Writer, objects []runtime.Object) error {
	for _, object := range objects {
		plain, err := plain(object)
		if err != nil {
			return err
		}
		text, err := yaml.Marshal(plain.Object)
		if err != nil {
			return fmt.Errorf("writing %s %s: %w", plain.GetKind(), plain.GetName(), err)
		}
		if _, err := fmt.Fprintf(out, "---\n%s", text); err != nil {
			return err
		}
	}
	return nil
}

// plain is an object without what only servers fill in.
func plain(object runtime.Object) (*unstructured.Unstructured, error) {
	content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(object)
	if err != nil {
		return nil, fmt.Errorf("converting %T: %w", object, err)
	}
	out := &unstructured.Unstructured{Object: content}
	unstructured.RemoveNestedField(content, "status")
	unstructured.RemoveNestedField(content, "metadata", "creationTimestamp")
	unstructured.RemoveNestedField(content, "spec", "template", "metadata", "creationTimestamp")
	switch out.GetKind() {
	case "Namespace":
		unstructured.RemoveNestedField(content, "spec")
	case "Deployment":
		unstructured.RemoveNestedField(content, "spec", "strategy")
	}
	return out, nil
}

func place(client dynamic.Interface, object *unstructured.Unstructured) dynamic.ResourceInterface {
	kind := object.GroupVersionKind()
	resource := client.Resource(schema.GroupVersionResource{Group: kind.Group, Version: kind.Version, Resource: resources[kind.Kind]})
	if object.GetNamespace() == "" {
		return resource
	}
	return resource.Namespace(object.GetNamespace())
}

// Install creates missing objects and updates existing ones. It uses a namespace that
// another user has created as it is, and does not take it over.
//
// KEP-25: it deletes any existing Deployment of the controller and creates one anew, and old
// migrations go with the old one.
func Install(ctx context.Context, client dynamic.Interface, o Options, tell func(format string, args ...any)) error {
	if err := replace(ctx, client, o, tell); err != nil {
		return err
	}
	for _, object := range Objects(o) {
		want, err := plain(object)
		if err != nil {
			return err
		}
		at := place(client, want)
		_, err = at.Create(ctx, want, metav1.CreateOptions{})
		done := "created"
		if apierrors.IsAlreadyExists(err) {
			done, err = renew(ctx, at, want)
		}
		if err != nil {
			return fmt.Errorf("install %s %s: %w", want.GetKind(), want.GetName(), err)
		}
		tell("%s %s: %s", want.GetKind(), want.GetName(), done)
	}
	return nil
}

func renew(ctx context.Context, at dynamic.ResourceInterface, want *unstructured.Unstructured) (string, error) {
	is, err := at.Get(ctx, want.GetName(), metav1.GetOptions{})
	switch {
	case err != nil:
		return "", err
	case is.GetLabels()[ManagedLabel] != Manager && want.GetKind() == "Namespace":
		return "used as it is", nil
	case is.GetLabels()[ManagedLabel] != Manager:
		return "", fmt.Errorf("it exists already and was not installed by this command; remove it, or choose another --namespace")
	case want.GetKind() == "Namespace":
		return "was there", nil
	}
	want.SetResourceVersion(is.GetResourceVersion())
	_, err = at.Update(ctx, want, metav1.UpdateOptions{})
	return "renewed", err
}

// replace removes the controller of an earlier installation and the migrations that it
// created, with their owner. What is remembered of resources stays.
func replace(ctx context.Context, client dynamic.Interface, o Options, tell func(format string, args ...any)) error {
	for _, object := range []runtime.Object{deployment(o), clusterRole(workload.ControllerAccount, o.Namespace, nil)} {
		unwanted, err := plain(object)
		if err != nil {
			return err
		}
		if unwanted.GetKind() == "ClusterRole" {
			if err := removeOwned(ctx, client, unwanted.GetName()); err != nil {
				return err
			}
		}
		gone, err := remove(ctx, place(client, unwanted), unwanted.GetName())
		if err != nil {
			return fmt.Errorf("replace %s %s: %w", unwanted.GetKind(), unwanted.GetName(), err)
		}
		if gone {
			tell("%s %s: deleted", unwanted.GetKind(), unwanted.GetName())
		}
	}
	return nil
}

// removeOwned deletes the migrations that a ClusterRole owns. A garbage collector does so
// as well, once the ClusterRole is deleted.
func removeOwned(ctx context.Context, client dynamic.Interface, role string) error {
	for _, version := range []string{"v1", "v1beta1"} {
		at := client.Resource(schema.GroupVersionResource{Group: migrations, Version: version, Resource: "storageversionmigrations"})
		list, err := at.List(ctx, metav1.ListOptions{})
		if apierrors.IsNotFound(err) {
			continue // That version is not served.
		}
		if err != nil {
			return fmt.Errorf("list the migrations: %w", err)
		}
		for i := range list.Items {
			svm := &list.Items[i]
			owned := slices.ContainsFunc(svm.GetOwnerReferences(), func(owner metav1.OwnerReference) bool { return owner.Kind == "ClusterRole" && owner.Name == role })
			if !owned {
				continue
			}
			uid := svm.GetUID()
			err := at.Delete(ctx, svm.GetName(), metav1.DeleteOptions{Preconditions: &metav1.Preconditions{UID: &uid}})
			if err != nil && !apierrors.IsNotFound(err) {
				return fmt.Errorf("delete migration %s: %w", svm.GetName(), err)
			}
		}
		return nil
	}
	return nil
}

// Uninstall removes the objects that Install has created in a namespace, the workers, the
// migrations that the controller has created, and the state of migrations. It removes the
// controller first, so that the controller does not start workers meanwhile. Migrations that
// users have created stay, and wait for another migrator.
func Uninstall(ctx context.Context, client dynamic.Interface, namespace string, tell func(format string, args ...any)) error {
	objects := Objects(Options{Namespace: namespace})
	slices.Reverse(objects)
	removed := 0
	for i, object := range objects {
		unwanted, err := plain(object)
		if err != nil {
			return err
		}
		gone, err := remove(ctx, place(client, unwanted), unwanted.GetName())
		if err != nil {
			return fmt.Errorf("remove %s %s: %w", unwanted.GetKind(), unwanted.GetName(), err)
		}
		if gone {
			removed++
			tell("%s %s: deleted", unwanted.GetKind(), unwanted.GetName())
		}
		if i == 0 {
			if err := removeOwned(ctx, client, clusterName(workload.ControllerAccount, namespace)); err != nil {
				return err
			}
			if err := removeLeftovers(ctx, client, namespace); err != nil {
				return err
			}
		}
	}
	if removed == 0 {
		return fmt.Errorf("nothing is installed in namespace %s; name another one by --namespace", namespace)
	}
	return nil
}

// remove deletes an object if this command has made it.
func remove(ctx context.Context, at dynamic.ResourceInterface, name string) (bool, error) {
	is, err := at.Get(ctx, name, metav1.GetOptions{})
	if apierrors.IsNotFound(err) || err == nil && is.GetLabels()[ManagedLabel] != Manager {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	uid := is.GetUID()
	options := metav1.DeleteOptions{PropagationPolicy: ptr.To(metav1.DeletePropagationBackground)}
	if uid != "" {
		options.Preconditions = &metav1.Preconditions{UID: &uid}
	}
	if err := at.Delete(ctx, name, options); err != nil && !apierrors.IsNotFound(err) {
		return false, err
	}
	return true, nil
}

// removeLeftovers deletes the Jobs of workers and what is remembered.
func removeLeftovers(ctx context.Context, client dynamic.Interface, namespace string) error {
	for resource, selector := range map[schema.GroupVersionResource]string{
		{Group: "batch", Version: "v1", Resource: "jobs"}: workload.WorkerSelector,
		{Version: "v1", Resource: "configmaps"}:           migration.RecordLabel,
	} {
		at := client.Resource(resource).Namespace(namespace)
		list, err := at.List(ctx, metav1.ListOptions{LabelSelector: selector})
		if err != nil {
			return fmt.Errorf("list the %s in %s: %w", resource.Resource, namespace, err)
		}
		for i := range list.Items {
			err := at.Delete(ctx, list.Items[i].GetName(), metav1.DeleteOptions{PropagationPolicy: ptr.To(metav1.DeletePropagationForeground)})
			if err != nil && !apierrors.IsNotFound(err) {
				return fmt.Errorf("delete %s of %s: %w", list.Items[i].GetName(), resource.Resource, err)
			}
		}
	}
	return nil
}
