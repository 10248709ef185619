package registry

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apimachineryvalidation "k8s.io/apimachinery/pkg/api/validation"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// eventTTLSeconds is how long etcd keeps an Event: no controller deletes Events.
const eventTTLSeconds = 60 * 60

// Core are the resources of the core group.
func Core() []Rules {
	resource := func(name string) schema.GroupResource { return corev1.Resource(name) }
	return []Rules{
		{
			Resource: resource("configmaps"), Singular: "configmap", ShortNames: []string{"cm"}, Namespaced: true,
			New:            func() runtime.Object { return &corev1.ConfigMap{} },
			NewList:        func() runtime.Object { return &corev1.ConfigMapList{} },
			ValidName:      apimachineryvalidation.NameIsDNSSubdomain,
			Validate:       validateConfigMap,
			ValidateUpdate: validateConfigMapUpdate,
			CreateOnUpdate: true,
		},
		{
			Resource: resource("events"), Singular: "event", ShortNames: []string{"ev"}, Namespaced: true,
			New:            func() runtime.Object { return &corev1.Event{} },
			NewList:        func() runtime.Object { return &corev1.EventList{} },
			ValidName:      apimachineryvalidation.NameIsDNSSubdomain,
			CreateOnUpdate: true,
			TTLSeconds:     eventTTLSeconds,
		},
		{
			Resource: resource("namespaces"), Singular: "namespace", ShortNames: []string{"ns"},
			New:           func() runtime.Object { return &corev1.Namespace{} },
			NewList:       func() runtime.Object { return &corev1.NamespaceList{} },
			ValidName:     apimachineryvalidation.NameIsDNSLabel,
			PrepareCreate: createNamespace,
			PrepareUpdate: func(obj, _ runtime.Object) { prepareNamespace(obj) },
		},
		{
			Resource: resource("secrets"), Singular: "secret", Namespaced: true,
			New:            func() runtime.Object { return &corev1.Secret{} },
			NewList:        func() runtime.Object { return &corev1.SecretList{} },
			ValidName:      apimachineryvalidation.NameIsDNSSubdomain,
			PrepareCreate:  prepareSecret,
			PrepareUpdate:  func(obj, _ runtime.Object) { prepareSecret(obj) },
			Validate:       validateSecret,
			ValidateUpdate: validateSecretUpdate,
			CreateOnUpdate: true,
		},
		{
			Resource: resource("services"), Singular: "service", ShortNames: []string{"svc"}, Namespaced: true,
			New:       func() runtime.Object { return &corev1.Service{} },
			NewList:   func() runtime.Object { return &corev1.ServiceList{} },
			ValidName: apimachineryvalidation.NameIsDNSLabel,
			Validate:  validateService,
		},
	}
}

// ContentsFinalizer keeps a namespace until nothing is in it. Kubernetes has
// spec.finalizers for that, with a subresource to change them; finalizers as every
// object has them do the same, and no client is to change either.
const ContentsFinalizer = "reference.evenkeel.dev/contents"

// createNamespace has a new namespace wait for its contents when it is deleted.
func createNamespace(obj runtime.Object) {
	prepareNamespace(obj)
	if namespace := obj.(*corev1.Namespace); !slices.Contains(namespace.Finalizers, ContentsFinalizer) {
		namespace.Finalizers = append(namespace.Finalizers, ContentsFinalizer)
	}
}

// prepareNamespace fills in what selectors and kubectl rely on.
func prepareNamespace(obj runtime.Object) {
	namespace := obj.(*corev1.Namespace)
	namespace.Spec.Finalizers = nil
	conditions := namespace.Status.Conditions
	namespace.Status = corev1.NamespaceStatus{Phase: corev1.NamespaceActive}
	if namespace.DeletionTimestamp != nil {
		// What keeps it is told by the emptier of package apiserver, with the object.
		namespace.Status = corev1.NamespaceStatus{Phase: corev1.NamespaceTerminating, Conditions: conditions}
	}
	if namespace.Name == "" {
		return
	}
	if namespace.Labels == nil {
		namespace.Labels = map[string]string{}
	}
	namespace.Labels[corev1.LabelMetadataName] = namespace.Name
}

// prepareSecret moves stringData to data.
func prepareSecret(obj runtime.Object) {
	secret := obj.(*corev1.Secret)
	if len(secret.StringData) == 0 {
		return
	}
	if secret.Data == nil {
		secret.Data = map[string][]byte{}
	}
	for key, value := range secret.StringData {
		secret.Data[key] = []byte(value)
	}
	secret.StringData = nil
}

func validateConfigMap(obj runtime.Object) field.ErrorList {
	config := obj.(*corev1.ConfigMap)
	errs := validateKeys(field.NewPath("data"), config.Data)
	errs = append(errs, validateKeys(field.NewPath("binaryData"), config.BinaryData)...)
	for key := range config.BinaryData {
		if _, both := config.Data[key]; both {
			errs = append(errs, field.Duplicate(field.NewPath("binaryData").Key(key), key))
		}
	}
	return errs
}

func validateConfigMapUpdate(obj, old runtime.Object) field.ErrorList {
	config, before := obj.(*corev1.ConfigMap), old.(*corev1.ConfigMap)
	if before.Immutable == nil || !*before.Immutable {
		return nil
	}
	var errs field.ErrorList
	errs = append(errs, unchanged(field.NewPath("immutable"), config.Immutable, before.Immutable)...)
	errs = append(errs, unchanged(field.NewPath("data"), config.Data, before.Data)...)
	return append(errs, unchanged(field.NewPath("binaryData"), config.BinaryData, before.BinaryData)...)
}

func validateSecret(obj runtime.Object) field.ErrorList {
	return validateKeys(field.NewPath("data"), obj.(*corev1.Secret).Data)
}

func validateSecretUpdate(obj, old runtime.Object) field.ErrorList {
	secret, before := obj.(*corev1.Secret), old.(*corev1.Secret)
	errs := unchanged(field.NewPath("type"), secret.Type, before.Type)
	if before.Immutable == nil || !*before.Immutable {
		return errs
	}
	errs = append(errs, unchanged(field.NewPath("immutable"), secret.Immutable, before.Immutable)...)
	return append(errs, unchanged(field.NewPath("data"), secret.Data, before.Data)...)
}

func validateKeys[V any](path *field.Path, data map[string]V) field.ErrorList {
	var errs field.ErrorList
	for key := range data {
		for _, message := range validation.IsConfigMapKey(key) {
			errs = append(errs, field.Invalid(path.Key(key), key, message))
		}
	}
	return errs
}

func unchanged(path *field.Path, now, before any) field.ErrorList {
	if equality.Semantic.DeepEqual(now, before) {
		return nil
	}
	return field.ErrorList{field.Forbidden(path, "must not change")}
}

// validateService checks what an APIService needs of the Service it names.
func validateService(obj runtime.Object) field.ErrorList {
	spec, path := &obj.(*corev1.Service).Spec, field.NewPath("spec")
	var errs field.ErrorList
	switch spec.Type {
	case corev1.ServiceTypeClusterIP, corev1.ServiceTypeNodePort, corev1.ServiceTypeLoadBalancer:
		if len(spec.Ports) == 0 {
			errs = append(errs, field.Required(path.Child("ports"), "a service that is not of type ExternalName has ports"))
		}
	case corev1.ServiceTypeExternalName:
		for _, message := range validation.IsDNS1123Subdomain(spec.ExternalName) {
			errs = append(errs, field.Invalid(path.Child("externalName"), spec.ExternalName, message))
		}
	default:
		errs = append(errs, field.NotSupported(path.Child("type"), spec.Type, []corev1.ServiceType{
			corev1.ServiceTypeClusterIP, corev1.ServiceTypeExternalName, corev1.ServiceTypeLoadBalancer, corev1.ServiceTypeNodePort}))
	}
	for i, port := range spec.Ports {
		for _, message := range validation.IsValidPortNum(int(port.Port)) {
			errs = append(errs, field.Invalid(path.Child("ports").Index(i).Child("port"), port.Port, message))
		}
	}
	return errs
}
