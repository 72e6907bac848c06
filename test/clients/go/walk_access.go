package main

import (
	"context"

	authorizationv1 "k8s.io/api/authorization/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

var accessSteps = []step{
	{"we are told what we may do", func(ctx context.Context, w *walker) error {
		review, err := w.kube.AuthorizationV1().SelfSubjectAccessReviews().Create(ctx, &authorizationv1.SelfSubjectAccessReview{
			Spec: authorizationv1.SelfSubjectAccessReviewSpec{
				ResourceAttributes: &authorizationv1.ResourceAttributes{Namespace: w.namespace, Verb: "delete", Resource: "pods"},
			},
		}, metav1.CreateOptions{})
		if err != nil {
			return err
		}
		return expectThat("an administrator may delete pods", review.Status.Allowed)
	}},
}
