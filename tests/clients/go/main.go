// Command clients runs the shared client scenario with client-go and prints one JSON result per step and line.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"sort"
	"strconv"
	"strings"
	"sync"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	"sigs.k8s.io/yaml"
)

type resource struct {
	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"`
	Plural     string `json:"plural"`
}

type step struct {
	Name          string         `json:"name"`
	Op            string         `json:"op"`
	Resource      string         `json:"resource"`
	Object        map[string]any `json:"object"`
	Target        string         `json:"target"`
	Show          []string       `json:"show"`
	Type          string         `json:"type"`
	Body          any            `json:"body"`
	Set           map[string]any `json:"set"`
	Stale         bool           `json:"stale"`
	Subresource   string         `json:"subresource"`
	Manager       string         `json:"manager"`
	Force         bool           `json:"force"`
	UID           string         `json:"uid"`
	LabelSelector string         `json:"labelSelector"`
	FieldSelector string         `json:"fieldSelector"`
	Limit         int64          `json:"limit"`
	As            string         `json:"as"`
	Until         string         `json:"until"`
	Names         []string       `json:"names"`
}

type scenario struct {
	Resources map[string]resource `json:"resources"`
	Steps     []step              `json:"steps"`
}

const patience = 15 * time.Second

type runner struct {
	config    *rest.Config
	access    access
	namespace string
	scenario  scenario
	mutex     sync.Mutex
	events    map[string][]string
	caches    map[string]func() []string
}

func main() {
	kubeconfig := flag.String("kubeconfig", "", "the server")
	namespace := flag.String("namespace", "", "an empty namespace")
	file := flag.String("scenario", "", "the scenario; without it the checks of client-go's own tools run")
	mode := flag.String("mode", "dynamic", "dynamic, typed-json or typed-protobuf")
	flag.Parse()
	if err := run(*kubeconfig, *namespace, *file, *mode); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(kubeconfig, namespace, file, mode string) error {
	config, err := clientcmd.BuildConfigFromFlags("", kubeconfig)
	if err != nil {
		return err
	}
	config.QPS, config.Burst = 200, 200
	if file == "" {
		return runTools(config, namespace, report)
	}
	text, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	r := &runner{config: config, namespace: namespace, events: map[string][]string{}, caches: map[string]func() []string{}}
	if err := yaml.Unmarshal(text, &r.scenario); err != nil {
		return err
	}
	if r.access, err = newAccess(config, mode, namespace); err != nil {
		return err
	}
	for _, s := range r.scenario.Steps {
		result, err := r.perform(s)
		var status apierrors.APIStatus
		if errors.As(err, &status) {
			result = map[string]any{"error": map[string]any{"code": status.Status().Code, "reason": status.Status().Reason}}
		} else if err != nil {
			return fmt.Errorf("%s: %w", s.Name, err)
		}
		report(s.Name, result)
	}
	return nil
}

func report(name string, result any) {
	line, _ := json.Marshal(map[string]any{"step": name, "result": result})
	fmt.Println(string(line))
}

func (r *runner) kind(s step) (schema.GroupVersionKind, schema.GroupVersionResource) {
	res := r.scenario.Resources[s.Resource]
	gv, _ := schema.ParseGroupVersion(res.APIVersion)
	return gv.WithKind(res.Kind), gv.WithResource(res.Plural)
}

func (r *runner) object(s step) *unstructured.Unstructured {
	gvk, _ := r.kind(s)
	object := &unstructured.Unstructured{Object: s.Object}
	object.SetGroupVersionKind(gvk)
	object.SetNamespace(r.namespace)
	return object
}

func (r *runner) perform(s step) (any, error) {
	ctx, cancel := context.WithTimeout(context.Background(), 2*patience)
	defer cancel()
	_, gvr := r.kind(s)
	switch s.Op {
	case "create":
		return shown(s)(r.access.create(ctx, gvr, r.object(s)))
	case "get":
		return shown(s)(r.access.get(ctx, gvr, s.Target))
	case "update":
		return r.update(ctx, s)
	case "patch":
		body, err := json.Marshal(s.Body)
		if err != nil {
			return nil, err
		}
		kinds := map[string]types.PatchType{"json": types.JSONPatchType, "merge": types.MergePatchType, "strategic": types.StrategicMergePatchType}
		return shown(s)(r.access.patch(ctx, gvr, patchRequest{s.Target, kinds[s.Type], body, metav1.PatchOptions{}, s.Subresource}))
	case "apply":
		object := r.object(s)
		body, err := json.Marshal(object)
		if err != nil {
			return nil, err
		}
		options := metav1.PatchOptions{FieldManager: s.Manager, Force: &s.Force}
		return shown(s)(r.access.patch(ctx, gvr, patchRequest{object.GetName(), types.ApplyPatchType, body, options, ""}))
	case "delete":
		options := metav1.DeleteOptions{}
		if s.UID != "" {
			options.Preconditions = metav1.NewUIDPreconditions(s.UID)
		}
		return map[string]any{"deleted": true}, r.access.remove(ctx, gvr, s.Target, options)
	case "delete-collection":
		return map[string]any{"deleted": true}, r.access.removeAll(ctx, gvr, metav1.ListOptions{LabelSelector: s.LabelSelector})
	case "list":
		return r.list(ctx, s)
	default:
		return r.follow(s)
	}
}

func (r *runner) follow(s step) (any, error) {
	_, gvr := r.kind(s)
	switch s.Op {
	case "watch":
		return map[string]any{}, r.watch(s)
	case "events":
		await(func() bool { return contains(r.seen(s.As), s.Until) })
		return map[string]any{"events": r.seen(s.As)}, nil
	case "informer":
		names, err := r.access.informer(gvr, s.LabelSelector)
		r.caches[s.As] = names
		return map[string]any{}, err
	case "cached":
		await(func() bool { return strings.Join(r.caches[s.As](), ",") == strings.Join(s.Names, ",") })
		return map[string]any{"names": r.caches[s.As]()}, nil
	}
	return nil, fmt.Errorf("unknown operation %q", s.Op)
}

func (r *runner) update(ctx context.Context, s step) (any, error) {
	_, gvr := r.kind(s)
	current, err := r.access.get(ctx, gvr, s.Target)
	if err != nil {
		return nil, err
	}
	for key, value := range s.Set {
		current.Object[key] = value
	}
	if s.Stale {
		current.SetResourceVersion("1")
	}
	return shown(s)(r.access.update(ctx, gvr, current))
}

func (r *runner) list(ctx context.Context, s step) (any, error) {
	_, gvr := r.kind(s)
	options := metav1.ListOptions{LabelSelector: s.LabelSelector, FieldSelector: s.FieldSelector, Limit: s.Limit}
	names := []string{}
	for pages := 1; ; pages++ {
		list, err := r.access.list(ctx, gvr, options)
		if err != nil {
			return nil, err
		}
		for _, item := range list.Items {
			names = append(names, item.GetName())
		}
		if list.GetContinue() == "" {
			return map[string]any{"names": names, "pages": pages}, nil
		}
		options.Continue = list.GetContinue()
	}
}

func (r *runner) watch(s step) error {
	_, gvr := r.kind(s)
	stream, err := r.access.watch(context.Background(), gvr, metav1.ListOptions{LabelSelector: s.LabelSelector})
	if err != nil {
		return err
	}
	go func() {
		for event := range stream.ResultChan() {
			if event.Type == watch.Error {
				continue
			}
			object, err := toUnstructured(event.Object)
			if err != nil {
				continue
			}
			r.mutex.Lock()
			r.events[s.As] = append(r.events[s.As], fmt.Sprintf("%s %s", event.Type, object.GetName()))
			r.mutex.Unlock()
		}
	}()
	await(func() bool { return len(r.seen(s.As)) > 0 })
	return nil
}

func (r *runner) seen(name string) []string {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	return append([]string{}, r.events[name]...)
}

func shown(s step) func(*unstructured.Unstructured, error) (any, error) {
	return func(object *unstructured.Unstructured, err error) (any, error) {
		if err != nil {
			return nil, err
		}
		result := map[string]any{}
		for _, path := range s.Show {
			result[path] = valueAt(object.Object, strings.Split(path, "."))
		}
		return result, nil
	}
}

func valueAt(value any, path []string) any {
	for _, part := range path {
		switch typed := value.(type) {
		case map[string]any:
			value = typed[part]
		case []any:
			index, err := strconv.Atoi(part)
			if err != nil || index >= len(typed) {
				return nil
			}
			value = typed[index]
		default:
			return nil
		}
	}
	return value
}

func await(condition func() bool) {
	for deadline := time.Now().Add(patience); !condition() && time.Now().Before(deadline); {
		time.Sleep(20 * time.Millisecond)
	}
}

func contains(values []string, wanted string) bool {
	for _, value := range values {
		if value == wanted {
			return true
		}
	}
	return false
}

func sorted(values []string) []string {
	sort.Strings(values)
	return values
}
