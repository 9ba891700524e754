/** The identities of contacts: how they are stored, shown, reported and written to. */
export { addressAmong, findAddress, hasAddress, requireAddress, selectAddress } from "./addresses.ts";
export {
  type Identity,
  identitiesOf,
  isFormerOwner,
  noIdentities,
  shownIdentities,
  storedIdentity,
} from "./kinds.ts";
export { type StoredSender, senderFields, senderOf, withSender, withStoredSender } from "./sender.ts";
