/** Where the server tells what `sheaf status` shows. */
export const statusPath = '/sheaf/v1/status';
