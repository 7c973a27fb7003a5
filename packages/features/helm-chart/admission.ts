import { type AdmissionRule, allow, deny } from '@sheaf/api';
import { longestChartName } from '@sheaf/api/addon/index';
import { isOfOthers, namesOf } from './chart-names.ts';

const charts = { group: 'helm.cattle.io', resource: 'helmcharts' };
const wide = 'clusterroles,clusterrolebindings,validatingwebhookconfigurations,mutatingwebhookconfigurations';

/** No operation could ever begin for a chart whose Job cannot bear its name. */
export const chartNameRule: AdmissionRule = {
  name: 'chart-names',
  targets: [charts],
  operations: ['CREATE'],
  validate(object) {
    const { length } = object?.metadata.name ?? '';
    if (length <= longestChartName || (object && isOfOthers(object))) return allow();
    return deny({
      reason: 'Invalid',
      message: `metadata.name: the name of a chart has at most ${longestChartName} characters, for its Job has it in its own; this one has ${length}`,
      wayOut: 'Give it a shorter name.',
    });
  },
};

/** Two charts of one release would undo each other's work, and whichever goes first would take the release away from the other. */
export const chartReleaseRule: AdmissionRule = {
  name: 'chart-releases',
  targets: [charts],
  operations: ['CREATE', 'UPDATE'],
  reads: [charts],
  validate(object, old, { objects }) {
    if (!object || isOfOthers(object)) return allow();
    const { name, namespace, targetNamespace } = namesOf(object);
    if (old && namesOf(old).targetNamespace === targetNamespace) return allow();
    const other = objects
      .list(charts)
      .find(
        (each) =>
          each.metadata.name === name &&
          each.metadata.namespace !== namespace &&
          namesOf(each).targetNamespace === targetNamespace &&
          !isOfOthers(each),
      );
    if (!other) return allow();
    return deny({
      reason: 'Invalid',
      message: `spec.targetNamespace: the release ${name} in the namespace ${targetNamespace} is that of the HelmChart ${other.metadata.namespace}/${name} already`,
      wayOut: 'Give the chart another name or another targetNamespace, or delete that one first.',
    });
  },
};

/** Says what becomes of the charts of a namespace that is deleted: no operation can begin there any more. */
export const endingNamespaceRule: AdmissionRule = {
  name: 'charts-of-ending-namespaces',
  targets: [{ group: '', resource: 'namespaces' }],
  operations: ['DELETE'],
  reads: [charts],
  validate(_object, old, { objects }) {
    const { name = '', deletionTimestamp } = old?.metadata ?? {};
    const own = objects
      .list(charts)
      .filter(({ metadata }) => metadata.namespace === name && metadata.deletionTimestamp === undefined)
      .map(({ metadata }) => metadata.name ?? '')
      .toSorted();
    if (deletionTimestamp !== undefined || own.length === 0) return allow();
    const them = own.length === 1 ? `the chart ${own[0]} is` : `the charts ${own.join(', ')} are`;
    return allow(
      `${them} not uninstalled with the namespace: what is outside of it stays. To see that: kubectl get ${wide} -l app.kubernetes.io/managed-by=Helm. Otherwise, disable add-ons and delete HelmCharts before their namespace`,
    );
  },
};
