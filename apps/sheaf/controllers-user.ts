/** Members of the first group may do everything. */
export const systemGroups = ['system:masters', 'system:authenticated'];

/** As whom controllers and actions of features write; admission lets it do what is theirs alone. */
export const controllersUser = { name: 'system:kube-controller-manager', groups: systemGroups };
