import { asJson } from '@sheaf/api';
import { isJsonObject } from '@sheaf/base';
import type { AdmissionPlugin } from './plugin.ts';
import { isFor } from './refusal.ts';

const requests = { group: 'certificates.k8s.io', resource: 'certificatesigningrequests' };

/** A signing request says who made it: that is the user of the request, whatever the object claims. */
export function certificateRequester(): AdmissionPlugin {
  return {
    name: 'CertificateRequester',
    handles: (request) => request.operation === 'CREATE' && isFor(request, requests),
    mutate({ object, user }) {
      const spec = object && asJson(object)['spec'];
      if (!isJsonObject(spec)) return;
      delete spec['uid'];
      delete spec['extra'];
      spec['username'] = user.name;
      spec['groups'] = [...user.groups];
      if (user.uid) spec['uid'] = user.uid;
      if (user.extra)
        spec['extra'] = Object.fromEntries(
          Object.entries(user.extra).map(([key, values]) => [key, [...values]]),
        );
    },
  };
}
