package main

import (
	"context"
	"fmt"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/dynamic/dynamicinformer"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"
)

type patchRequest struct {
	name        string
	kind        types.PatchType
	body        []byte
	options     metav1.PatchOptions
	subresource string
}

// access is one way of client-go to reach namespaced objects; results are shown without types so that they compare.
type access interface {
	create(context.Context, schema.GroupVersionResource, *unstructured.Unstructured) (*unstructured.Unstructured, error)
	get(context.Context, schema.GroupVersionResource, string) (*unstructured.Unstructured, error)
	update(context.Context, schema.GroupVersionResource, *unstructured.Unstructured) (*unstructured.Unstructured, error)
	patch(context.Context, schema.GroupVersionResource, patchRequest) (*unstructured.Unstructured, error)
	remove(context.Context, schema.GroupVersionResource, string, metav1.DeleteOptions) error
	removeAll(context.Context, schema.GroupVersionResource, metav1.ListOptions) error
	list(context.Context, schema.GroupVersionResource, metav1.ListOptions) (*unstructured.UnstructuredList, error)
	watch(context.Context, schema.GroupVersionResource, metav1.ListOptions) (watch.Interface, error)
	// informer starts a shared informer, waits for its first state, and gives the sorted names in its cache.
	informer(schema.GroupVersionResource, string) (func() []string, error)
}

func newAccess(config *rest.Config, mode, namespace string) (access, error) {
	client, err := dynamic.NewForConfig(config)
	if err != nil {
		return nil, err
	}
	if mode == "dynamic" {
		return &untyped{client, namespace}, nil
	}
	content := map[string]string{"typed-json": "application/json", "typed-protobuf": "application/vnd.kubernetes.protobuf"}[mode]
	if content == "" {
		return nil, fmt.Errorf("unknown mode %q", mode)
	}
	typedConfig := rest.CopyConfig(config)
	typedConfig.ContentType = content
	typedConfig.AcceptContentTypes = content
	return &typed{typedConfig, namespace}, nil
}

type untyped struct {
	client    dynamic.Interface
	namespace string
}

func (u *untyped) of(gvr schema.GroupVersionResource) dynamic.ResourceInterface {
	return u.client.Resource(gvr).Namespace(u.namespace)
}

func (u *untyped) create(ctx context.Context, gvr schema.GroupVersionResource, object *unstructured.Unstructured) (*unstructured.Unstructured, error) {
	return u.of(gvr).Create(ctx, object, metav1.CreateOptions{})
}

func (u *untyped) get(ctx context.Context, gvr schema.GroupVersionResource, name string) (*unstructured.Unstructured, error) {
	return u.of(gvr).Get(ctx, name, metav1.GetOptions{})
}

func (u *untyped) update(ctx context.Context, gvr schema.GroupVersionResource, object *unstructured.Unstructured) (*unstructured.Unstructured, error) {
	return u.of(gvr).Update(ctx, object, metav1.UpdateOptions{})
}

func (u *untyped) patch(ctx context.Context, gvr schema.GroupVersionResource, p patchRequest) (*unstructured.Unstructured, error) {
	if p.subresource == "" {
		return u.of(gvr).Patch(ctx, p.name, p.kind, p.body, p.options)
	}
	return u.of(gvr).Patch(ctx, p.name, p.kind, p.body, p.options, p.subresource)
}

func (u *untyped) remove(ctx context.Context, gvr schema.GroupVersionResource, name string, options metav1.DeleteOptions) error {
	return u.of(gvr).Delete(ctx, name, options)
}

func (u *untyped) removeAll(ctx context.Context, gvr schema.GroupVersionResource, options metav1.ListOptions) error {
	return u.of(gvr).DeleteCollection(ctx, metav1.DeleteOptions{}, options)
}

func (u *untyped) list(ctx context.Context, gvr schema.GroupVersionResource, options metav1.ListOptions) (*unstructured.UnstructuredList, error) {
	return u.of(gvr).List(ctx, options)
}

func (u *untyped) watch(ctx context.Context, gvr schema.GroupVersionResource, options metav1.ListOptions) (watch.Interface, error) {
	return u.of(gvr).Watch(ctx, options)
}

func (u *untyped) informer(gvr schema.GroupVersionResource, selector string) (func() []string, error) {
	tweak := func(options *metav1.ListOptions) { options.LabelSelector = selector }
	factory := dynamicinformer.NewFilteredDynamicSharedInformerFactory(u.client, time.Hour, u.namespace, tweak)
	return startInformer(factory.ForResource(gvr).Informer())
}

// typed goes through the generated types of k8s.io/api and the content type of its configuration.
type typed struct {
	config    *rest.Config
	namespace string
}

func (t *typed) client(gvr schema.GroupVersionResource) (rest.Interface, error) {
	gv := gvr.GroupVersion()
	config := rest.CopyConfig(t.config)
	config.GroupVersion = &gv
	config.APIPath = "/apis"
	if gv.Group == "" {
		config.APIPath = "/api"
	}
	config.NegotiatedSerializer = scheme.Codecs.WithoutConversion()
	return rest.RESTClientFor(config)
}

func (t *typed) send(ctx context.Context, gvr schema.GroupVersionResource, verb string, build func(*rest.Request) *rest.Request) (runtime.Object, error) {
	client, err := t.client(gvr)
	if err != nil {
		return nil, err
	}
	return build(client.Verb(verb).Namespace(t.namespace).Resource(gvr.Resource)).Do(ctx).Get()
}

func (t *typed) one(object runtime.Object, err error) (*unstructured.Unstructured, error) {
	if err != nil {
		return nil, err
	}
	return toUnstructured(object)
}

func (t *typed) create(ctx context.Context, gvr schema.GroupVersionResource, object *unstructured.Unstructured) (*unstructured.Unstructured, error) {
	body, err := toTyped(object)
	if err != nil {
		return nil, err
	}
	return t.one(t.send(ctx, gvr, "POST", func(r *rest.Request) *rest.Request { return r.Body(body) }))
}

func (t *typed) get(ctx context.Context, gvr schema.GroupVersionResource, name string) (*unstructured.Unstructured, error) {
	return t.one(t.send(ctx, gvr, "GET", func(r *rest.Request) *rest.Request { return r.Name(name) }))
}

func (t *typed) update(ctx context.Context, gvr schema.GroupVersionResource, object *unstructured.Unstructured) (*unstructured.Unstructured, error) {
	body, err := toTyped(object)
	if err != nil {
		return nil, err
	}
	return t.one(t.send(ctx, gvr, "PUT", func(r *rest.Request) *rest.Request { return r.Name(object.GetName()).Body(body) }))
}

func (t *typed) patch(ctx context.Context, gvr schema.GroupVersionResource, p patchRequest) (*unstructured.Unstructured, error) {
	client, err := t.client(gvr)
	if err != nil {
		return nil, err
	}
	request := client.Patch(p.kind).Namespace(t.namespace).Resource(gvr.Resource).Name(p.name)
	if p.subresource != "" {
		request = request.SubResource(p.subresource)
	}
	return t.one(request.VersionedParams(&p.options, scheme.ParameterCodec).Body(p.body).Do(ctx).Get())
}

func (t *typed) remove(ctx context.Context, gvr schema.GroupVersionResource, name string, options metav1.DeleteOptions) error {
	_, err := t.send(ctx, gvr, "DELETE", func(r *rest.Request) *rest.Request { return r.Name(name).Body(&options) })
	return err
}

func (t *typed) removeAll(ctx context.Context, gvr schema.GroupVersionResource, options metav1.ListOptions) error {
	_, err := t.send(ctx, gvr, "DELETE", func(r *rest.Request) *rest.Request {
		return r.VersionedParams(&options, scheme.ParameterCodec).Body(&metav1.DeleteOptions{})
	})
	return err
}

func (t *typed) list(ctx context.Context, gvr schema.GroupVersionResource, options metav1.ListOptions) (*unstructured.UnstructuredList, error) {
	object, err := t.send(ctx, gvr, "GET", func(r *rest.Request) *rest.Request {
		return r.VersionedParams(&options, scheme.ParameterCodec)
	})
	if err != nil {
		return nil, err
	}
	content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(object)
	if err != nil {
		return nil, err
	}
	return (&unstructured.Unstructured{Object: content}).ToList()
}

func (t *typed) watch(ctx context.Context, gvr schema.GroupVersionResource, options metav1.ListOptions) (watch.Interface, error) {
	client, err := t.client(gvr)
	if err != nil {
		return nil, err
	}
	options.Watch = true
	return client.Get().Namespace(t.namespace).Resource(gvr.Resource).VersionedParams(&options, scheme.ParameterCodec).Watch(ctx)
}

func (t *typed) informer(gvr schema.GroupVersionResource, selector string) (func() []string, error) {
	client, err := kubernetes.NewForConfig(t.config)
	if err != nil {
		return nil, err
	}
	tweak := func(options *metav1.ListOptions) { options.LabelSelector = selector }
	factory := informers.NewSharedInformerFactoryWithOptions(client, time.Hour, informers.WithNamespace(t.namespace), informers.WithTweakListOptions(tweak))
	generic, err := factory.ForResource(gvr)
	if err != nil {
		return nil, err
	}
	return startInformer(generic.Informer())
}

func startInformer(informer cache.SharedIndexInformer) (func() []string, error) {
	go informer.Run(make(chan struct{}))
	limit := make(chan struct{})
	time.AfterFunc(patience, func() { close(limit) })
	if !cache.WaitForCacheSync(limit, informer.HasSynced) {
		return nil, fmt.Errorf("the informer had no first state after %s", patience)
	}
	return func() []string {
		names := []string{}
		for _, key := range informer.GetStore().ListKeys() {
			_, name, _ := cache.SplitMetaNamespaceKey(key)
			names = append(names, name)
		}
		return sorted(names)
	}, nil
}

func toTyped(object *unstructured.Unstructured) (runtime.Object, error) {
	result, err := scheme.Scheme.New(object.GroupVersionKind())
	if err != nil {
		return nil, err
	}
	return result, runtime.DefaultUnstructuredConverter.FromUnstructured(object.Object, result)
}

func toUnstructured(object runtime.Object) (*unstructured.Unstructured, error) {
	if already, ok := object.(*unstructured.Unstructured); ok {
		return already, nil
	}
	content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(object)
	if err != nil {
		return nil, err
	}
	result := &unstructured.Unstructured{Object: content}
	if kinds, _, err := scheme.Scheme.ObjectKinds(object); err == nil && result.GetKind() == "" {
		result.SetGroupVersionKind(kinds[0])
	}
	return result, nil
}
