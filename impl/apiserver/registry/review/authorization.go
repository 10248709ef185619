package review

import (
	"context"

	authorizationv1 "k8s.io/api/authorization/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apiserver/pkg/authentication/user"
	"k8s.io/apiserver/pkg/authorization/authorizer"
	"k8s.io/apiserver/pkg/endpoints/request"
)

// NewSubjectAccessReview returns a storage that reviews whether a user may do
// something, by the authorizer that the API server itself uses.
func NewSubjectAccessReview(authz authorizer.Authorizer) *REST {
	return &REST{
		singular: "subjectaccessreview",
		empty:    func() runtime.Object { return &authorizationv1.SubjectAccessReview{} },
		answer: func(ctx context.Context, obj runtime.Object) error {
			review, ok := obj.(*authorizationv1.SubjectAccessReview)
			if !ok {
				return unexpected(obj)
			}
			if review.Spec.User == "" && len(review.Spec.Groups) == 0 {
				return apierrors.NewBadRequest("spec names neither a user nor groups")
			}
			subject := &user.DefaultInfo{Name: review.Spec.User, UID: review.Spec.UID, Groups: review.Spec.Groups}
			for key, values := range review.Spec.Extra {
				if subject.Extra == nil {
					subject.Extra = map[string][]string{}
				}
				subject.Extra[key] = values
			}
			status, err := decide(ctx, authz, subject, review.Spec.ResourceAttributes, review.Spec.NonResourceAttributes)
			review.Status = status
			return err
		},
	}
}

// NewSelfSubjectAccessReview returns a storage that reviews whether the user of the
// request may do something.
func NewSelfSubjectAccessReview(authz authorizer.Authorizer) *REST {
	return &REST{
		singular: "selfsubjectaccessreview",
		empty:    func() runtime.Object { return &authorizationv1.SelfSubjectAccessReview{} },
		answer: func(ctx context.Context, obj runtime.Object) error {
			review, ok := obj.(*authorizationv1.SelfSubjectAccessReview)
			if !ok {
				return unexpected(obj)
			}
			requester, ok := request.UserFrom(ctx)
			if !ok {
				return apierrors.NewUnauthorized("the requester is unknown")
			}
			status, err := decide(ctx, authz, requester, review.Spec.ResourceAttributes, review.Spec.NonResourceAttributes)
			review.Status = status
			return err
		},
	}
}

func decide(ctx context.Context, authz authorizer.Authorizer, subject user.Info, resource *authorizationv1.ResourceAttributes, path *authorizationv1.NonResourceAttributes) (authorizationv1.SubjectAccessReviewStatus, error) {
	var status authorizationv1.SubjectAccessReviewStatus
	if (resource == nil) == (path == nil) {
		return status, apierrors.NewBadRequest("spec must hold either resourceAttributes or nonResourceAttributes")
	}
	attributes := authorizer.AttributesRecord{User: subject}
	if resource != nil {
		attributes.ResourceRequest = true
		attributes.Verb = resource.Verb
		attributes.Namespace = resource.Namespace
		attributes.APIGroup = resource.Group
		attributes.APIVersion = resource.Version
		attributes.Resource = resource.Resource
		attributes.Subresource = resource.Subresource
		attributes.Name = resource.Name
	} else {
		attributes.Verb = path.Verb
		attributes.Path = path.Path
	}
	decision, reason, err := authz.Authorize(ctx, attributes)
	status.Allowed = decision == authorizer.DecisionAllow
	status.Denied = decision == authorizer.DecisionDeny
	status.Reason = reason
	if err != nil {
		status.EvaluationError = err.Error()
	}
	return status, nil
}
