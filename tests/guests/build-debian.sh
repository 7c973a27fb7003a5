#!/bin/sh
# build-debian.sh OUTPUT.qcow2: a Debian 12 disk for tests, with cloud-init, the guest agent, sshd and the tools of a TPM, made from
# Debian's packages without mounting anything. It boots by BIOS, and by EFI with Debian's signed loaders and kernel. Needs root and
# mmdebstrap, mtools, dosfstools, syslinux, e2fsprogs, fdisk, qemu-utils.
set -eu
output=$1
work=$(mktemp -d "${TMPDIR:-/tmp}/sheaf-guest.XXXXXX")
trap 'rm -rf "$work"' EXIT INT TERM

root=$work/root
mmdebstrap --quiet --mode=root --variant=minbase \
  --include=linux-image-cloud-amd64,systemd-sysv,systemd-resolved,dbus,udev,kmod,iproute2,netbase,ca-certificates,cloud-init,cloud-guest-utils,qemu-guest-agent,openssh-server,sudo,initramfs-tools,zstd,shim-signed,grub-efi-amd64-signed,tpm2-tools \
  --aptopt='Acquire::Languages "none"' \
  --dpkgopt='path-exclude=/usr/share/man/*' --dpkgopt='path-exclude=/usr/share/doc/*' --dpkgopt='path-exclude=/usr/share/locale/*' \
  --essential-hook='mkdir -p "$1/etc/initramfs-tools/conf.d" && echo MODULES=list >"$1/etc/initramfs-tools/conf.d/modules" && printf "virtio_pci\nvirtio_blk\nvirtio_scsi\nsd_mod\nsr_mod\nisofs\next4\n" >"$1/etc/initramfs-tools/modules" && echo COMPRESS=zstd >"$1/etc/initramfs-tools/conf.d/compress"' \
  --customize-hook='chroot "$1" systemctl -q enable systemd-networkd systemd-resolved' \
  bookworm "$root"

# Found on every kind of disk: NoCloud and ConfigDrive seeds, no metadata servers that would have to be waited for.
cat >"$root/etc/cloud/cloud.cfg.d/90-sheaf.cfg" <<'CONFIG'
datasource_list: [NoCloud, ConfigDrive, None]
ssh_genkeytypes: [ed25519]
locale: false
system_info:
  network:
    renderers: [networkd]
CONFIG
# Otherwise it is off where no seed is found at the very start.
echo 'policy: enabled' >"$root/etc/cloud/ds-identify.cfg"
cat >"$root/etc/fstab" <<'CONFIG'
LABEL=sheaf-root / ext4 defaults,errors=remount-ro 0 1
CONFIG
# Nothing that a guest of some minutes needs, each some seconds of an emulated processor.
for unit in apt-daily.timer apt-daily-upgrade.timer e2scrub_all.timer fstrim.timer dpkg-db-backup.timer man-db.timer \
  e2scrub_reap.service systemd-timesyncd.service; do
  ln -sf /dev/null "$root/etc/systemd/system/$unit"
done
rm -f "$root/etc/ssh/ssh_host_"* "$root/etc/machine-id"
: >"$root/etc/machine-id"
mv "$root"/boot/vmlinuz-* "$work/vmlinuz"
mv "$root"/boot/initrd.img-* "$work/initrd"
cp "$root/usr/lib/shim/shimx64.efi.signed" "$work/shimx64.efi"
cp "$root/usr/lib/grub/x86_64-efi-signed/grubx64.efi.signed" "$work/grubx64.efi"
rm -rf "$root"/var/cache/apt/* "$root"/var/lib/apt/lists/*

boot=$work/boot.img
truncate -s 64M "$boot"
mkfs.vfat -n SHEAF-BOOT "$boot" >/dev/null
syslinux --install "$boot"
options='root=LABEL=sheaf-root rw console=tty0 console=ttyS0 cryptomgr.notests net.ifnames=0 panic=5'
cat >"$work/syslinux.cfg" <<CONFIG
DEFAULT debian
PROMPT 0
TIMEOUT 0
LABEL debian
  LINUX vmlinuz
  INITRD initrd
  APPEND $options
CONFIG
# The signed loader looks for its configuration there, on the partition that it was read from.
cat >"$work/grub.cfg" <<CONFIG
set timeout=0
linux /vmlinuz $options
initrd /initrd
boot
CONFIG
mmd -i "$boot" ::/EFI ::/EFI/BOOT ::/EFI/debian
mcopy -i "$boot" "$work/shimx64.efi" ::/EFI/BOOT/BOOTX64.EFI
mcopy -i "$boot" "$work/grubx64.efi" ::/EFI/BOOT/grubx64.efi
mcopy -i "$boot" "$work/grub.cfg" ::/EFI/debian/grub.cfg
mcopy -i "$boot" "$work/vmlinuz" "$work/initrd" "$work/syslinux.cfg" ::/

system=$work/system.img
truncate -s 1400M "$system"
mke2fs -q -t ext4 -L sheaf-root -d "$root" "$system"

disk=$work/disk.img
truncate -s 1480M "$disk"
sfdisk -q "$disk" <<'TABLE'
label: dos
start=2048, size=131072, type=ef, bootable
start=133120, type=83
TABLE
dd if=/usr/lib/syslinux/mbr/mbr.bin of="$disk" conv=notrunc bs=440 count=1 status=none
dd if="$boot" of="$disk" conv=notrunc,sparse bs=1M seek=1 status=none
dd if="$system" of="$disk" conv=notrunc,sparse bs=1M seek=65 status=none
qemu-img convert -c -O qcow2 -o compression_type=zstd "$disk" "$output.part"
mv "$output.part" "$output"
