package scheme

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// addDefaults registers the values that the API server sets in the empty fields of
// a published kind. Only fields that this control plane reads have a default:
// kube-aggregator reads the type of a Service, and connects to a port.
func addDefaults(scheme *runtime.Scheme) {
	scheme.AddTypeDefaultingFunc(&corev1.Service{}, func(obj any) { defaultService(obj.(*corev1.Service)) })
	scheme.AddTypeDefaultingFunc(&corev1.ServiceList{}, func(obj any) {
		list := obj.(*corev1.ServiceList)
		for i := range list.Items {
			defaultService(&list.Items[i])
		}
	})
	scheme.AddTypeDefaultingFunc(&corev1.Secret{}, func(obj any) { defaultSecret(obj.(*corev1.Secret)) })
	scheme.AddTypeDefaultingFunc(&corev1.SecretList{}, func(obj any) {
		list := obj.(*corev1.SecretList)
		for i := range list.Items {
			defaultSecret(&list.Items[i])
		}
	})
}

func defaultService(service *corev1.Service) {
	if service.Spec.Type == "" {
		service.Spec.Type = corev1.ServiceTypeClusterIP
	}
	for i := range service.Spec.Ports {
		port := &service.Spec.Ports[i]
		if port.Protocol == "" {
			port.Protocol = corev1.ProtocolTCP
		}
		if port.TargetPort == (intstr.IntOrString{}) {
			port.TargetPort = intstr.FromInt32(port.Port)
		}
	}
}

func defaultSecret(secret *corev1.Secret) {
	if secret.Type == "" {
		secret.Type = corev1.SecretTypeOpaque
	}
}
