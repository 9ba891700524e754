/** The identities of contacts: how they are stored, shown, reported and written to. */
export { addressAmong, findAddress, hasAddress, requireAddress, selectAddress } from "./addresses.ts";
export {
  type Identity,
  identitiesOf,
  isChannelId,
  noIdentities,
  shownIdentities,
  storedIdentity,
  usernameKind,
} from "./kinds.ts";
export { type StoredSender, senderFields, senderOf, withSender, withStoredSender } from "./sender.ts";
